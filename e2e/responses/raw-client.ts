import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'

export type Wire = 'sse' | 'websocket'

export interface RawTarget {
  readonly port: number
  readonly key: string
}

const connectBoundMs = 120_000
const headersEnd = '\r\n\r\n'
const tailLength = 64 * 1024

/** As little of a client as there can be, so that ten thousand of them fit beside what they measure. */
export class RawClient {
  readonly #socket: Socket
  #headers = ''
  #tail = ''
  ended = false
  bytes = 0

  private constructor(socket: Socket) {
    this.#socket = socket
  }

  static async open(target: RawTarget, wire: Wire, path: string): Promise<RawClient> {
    const client = new RawClient(connect({ port: target.port, host: '127.0.0.1' }))
    await client.#begin(target.key, wire, path)
    return client
  }

  async #begin(key: string, wire: Wire, path: string): Promise<void> {
    const upgrade =
      wire === 'sse'
        ? ['Accept: text/event-stream', 'Connection: close']
        : [
            'Connection: Upgrade',
            'Upgrade: websocket',
            'Sec-WebSocket-Version: 13',
            `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
          ]
    const lines = [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${key}`, ...upgrade]
    await new Promise<void>((resolve, reject) => {
      const bound = setTimeout(() => reject(new Error('no answer in time')), connectBoundMs)
      const settle = (act: () => void) => {
        clearTimeout(bound)
        act()
      }
      this.#socket.setEncoding('latin1')
      this.#socket.on('error', (error) => settle(() => reject(error)))
      this.#socket.on('close', () => (this.ended = true))
      this.#socket.on('data', (text: string) => {
        this.bytes += text.length
        if (this.#headers.includes(headersEnd)) {
          this.#tail = (this.#tail + text).slice(-tailLength)
          return
        }
        this.#headers += text
        const end = this.#headers.indexOf(headersEnd)
        if (end < 0) return
        this.#tail = this.#headers.slice(end)
        const wanted = wire === 'sse' ? ' 200 ' : ' 101 '
        const [status = ''] = this.#headers.split('\r\n')
        settle(() => (status.includes(wanted) ? resolve() : reject(new Error(status))))
      })
      this.#socket.write(`${lines.join('\r\n')}${headersEnd}`)
    })
    this.#headers = headersEnd
  }

  /** Whether the end of what came holds this text. */
  said(text: string): boolean {
    return this.#tail.includes(text)
  }

  stopReading(): void {
    this.#socket.pause()
  }

  /** Reads on, so that an end sent by the other side is seen. */
  readOn(): void {
    this.#socket.resume()
  }

  destroy(): void {
    this.#socket.destroy()
  }
}
