/** Headers of a download. Never the uploader's type: a browser must not run what someone uploaded. */
export function attachmentHeaders(filename: string, bytes: number): Record<string, string> {
  return {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeName(filename)}`,
    'x-content-type-options': 'nosniff',
    'content-length': String(bytes),
  }
}

/** RFC 8187: everything but its attr-chars is percent-encoded. */
function encodeName(name: string): string {
  const well = name.toWellFormed()
  return encodeURIComponent(well).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
