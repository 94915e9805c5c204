import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

const lingerMs = 1_000

export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A reply written by hand, where there is no response object to write it with. The connection ends with it. */
export function sendRaw(socket: Duplex, { status, headers, body }: RawReply): void {
  const text = JSON.stringify(body)
  const all = {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`)
  // What still arrives is read and thrown away: with bytes unread, closing would be a reset, and the reply lost.
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
