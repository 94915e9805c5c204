import { connect, type Socket } from 'node:net'

const waitMs = 10_000

export interface RawReply {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

/** A connection on which a test says exactly what it wants, well-formed or not. */
export class RawClient {
  readonly socket: Socket
  #received = Buffer.alloc(0)
  #ended = false
  #wake: () => void = () => undefined

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    const end = () => {
      this.#ended = true
      this.#wake()
    }
    this.socket.on('end', end).on('error', end).on('close', end)
  }

  write(text: string | Buffer): this {
    this.socket.write(text)
    return this
  }

  /** The next whole reply; fails when the connection ends or nothing comes in time. */
  async reply(): Promise<RawReply> {
    await this.#until(() => this.#findReply() !== null)
    const found = this.#findReply()
    if (found === null)
      throw new Error(`the connection ended after ${JSON.stringify(this.#received.toString('latin1'))}`)
    this.#received = this.#received.subarray(found.bytes)
    return found.reply
  }

  /** Everything up to the end of the connection. */
  async rest(): Promise<string> {
    await this.#until(() => false)
    return this.#received.toString('latin1')
  }

  /** Everything received and not yet taken as a reply. */
  get received(): string {
    return this.#received.toString('latin1')
  }

  get ended(): boolean {
    return this.#ended
  }

  close(): void {
    this.socket.destroy()
  }

  async #until(satisfied: () => boolean): Promise<void> {
    const deadline = setTimeout(() => this.socket.destroy(new Error('waited too long')), waitMs)
    while (!satisfied() && !this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve))
    clearTimeout(deadline)
  }

  #findReply(): { reply: RawReply; bytes: number } | null {
    const text = this.#received.toString('latin1')
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) return null
    const [first = '', ...lines] = text.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const status = Number(first.split(' ')[1])
    const length = Number(headers['content-length'] ?? 0)
    const from = end + 4
    if (text.length < from + length) return null
    return { reply: { status, headers, body: text.slice(from, from + length) }, bytes: from + length }
  }
}

export function request(line: string, headers: Record<string, string> = {}, body = ''): string {
  const all = { host: 'test', authorization: 'Bearer sk-proj-good', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}
