export interface FormOptions {
  readonly fields?: Readonly<Record<string, string>>
  readonly filename?: string
}

/** The multipart body of a file, as an SDK sends it. */
export function fileForm(content: string | Uint8Array<ArrayBuffer> = 'hello\n', options: FormOptions = {}): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(options.fields ?? { purpose: 'user_data' })) form.append(name, value)
  form.append('file', new Blob([content]), options.filename ?? 'hello.txt')
  return form
}

/** The multipart body of one part of an upload. */
export function partForm(content: string | Uint8Array<ArrayBuffer> = 'twelve bytes'): FormData {
  const form = new FormData()
  form.append('data', new Blob([content]), 'blob')
  return form
}

export function uploadBody(bytes: number, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { bytes, filename: 'big.bin', mime_type: 'application/octet-stream', purpose: 'user_data', ...more }
}
