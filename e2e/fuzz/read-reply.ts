export interface Reply {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  /** The server says that it hangs up. */
  readonly closes: boolean
}

export type Read = { reply: Reply; rest: Buffer } | 'more' | 'nonsense'

const headBytesMax = 64 * 1024

/** Reads one reply off what has arrived. `ended`: nothing more will come. `bodiless`: it answers a HEAD. */
export function readReply(bytes: Buffer, ended: boolean, bodiless: boolean): Read {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return bytes.length > headBytesMax || ended ? 'nonsense' : 'more'
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1] ?? 0)
  if (status < 100) return 'nonsense'
  const after = bytes.subarray(headEnd + 4)
  // "Go on" is no reply yet, and stays the only word to a client that goes away instead.
  if (status < 200) return after.length === 0 ? 'more' : readReply(after, ended, bodiless)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) return 'nonsense'
    const name = line.slice(0, colon).toLowerCase()
    // A second one of these would let two readers disagree about where the reply ends.
    if (headers.has(name) && /^(content-length|transfer-encoding|x-request-id)$/.test(name)) return 'nonsense'
    headers.set(name, line.slice(colon + 1).trim())
  }
  const closes = headers.get('connection')?.toLowerCase() === 'close'
  const done = (body: Buffer, rest: Buffer): Read => ({ reply: { status, headers, body, closes }, rest })
  if (bodiless || status === 204 || status === 304) return done(Buffer.alloc(0), after)
  if (headers.get('transfer-encoding') === 'chunked') {
    const chunked = readChunks(after)
    return chunked === null ? (ended ? 'nonsense' : 'more') : done(chunked.body, chunked.rest)
  }
  const length = headers.get('content-length')
  if (length === undefined) return ended ? done(after, Buffer.alloc(0)) : 'more'
  if (after.length < Number(length)) return ended ? 'nonsense' : 'more'
  return done(after.subarray(0, Number(length)), after.subarray(Number(length)))
}

function readChunks(bytes: Buffer): { body: Buffer; rest: Buffer } | null {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return null
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16)
    const start = lineEnd + 2
    if (bytes.length < start + size + 2) return null
    if (size === 0) return { body: Buffer.concat(parts), rest: bytes.subarray(start + 2) }
    parts.push(bytes.subarray(start, start + size))
    at = start + size + 2
  }
}
