import type { ErrorBody } from '@switchyard/contracts/errors.ts'
import type { Operation } from '@switchyard/contracts/operation.ts'

export interface CallInput {
  readonly params?: Record<string, string>
  readonly query?: Record<string, string | number | boolean | string[]>
  readonly body?: unknown
  /** Null sends no key. */
  readonly key?: string | null
  readonly headers?: Record<string, string>
}

export interface CallReply<Body> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
  readonly text: string
  readonly error: ErrorBody['error'] | undefined
}

export function urlOf(baseUrl: string, operation: Operation, { params = {}, query = {} }: CallInput): string {
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_all, name: string) =>
    encodeURIComponent(params[name] ?? 'none'),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const one of value) search.append(`${name}[]`, one)
    else search.append(name, String(value))
  }
  const text = search.toString()
  return `${baseUrl}${path}${text === '' ? '' : `?${text}`}`
}

/** Calls an operation as a client would, over the wire. A FormData body goes as multipart, anything else as JSON. */
export async function callOperation(
  baseUrl: string,
  operation: Operation,
  input: CallInput,
): Promise<CallReply<unknown>> {
  const { key, body } = input
  const headers: Record<string, string> = { ...input.headers }
  if (key !== null && key !== undefined) headers['authorization'] = `Bearer ${key}`
  const init: RequestInit = { method: operation.method, headers }
  if (body instanceof FormData) init.body = body
  else if (body !== undefined) {
    headers['content-type'] ??= 'application/json'
    init.body = typeof body === 'string' ? body : JSON.stringify(body)
  }
  const reply = await fetch(urlOf(baseUrl, operation, input), init)
  const text = await reply.text()
  const json = reply.headers.get('content-type')?.startsWith('application/json') === true
  const parsed: unknown = json ? JSON.parse(text) : text
  const error = json ? (parsed as Partial<ErrorBody>).error : undefined
  return { status: reply.status, headers: reply.headers, body: parsed, text, error }
}
