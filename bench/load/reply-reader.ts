const headEnd = Buffer.from('\r\n\r\n')
const newline = 10
const carriageReturn = 13

type Place = 'head' | 'sized body' | 'chunk size' | 'chunk' | 'after chunk' | 'trailer'

/** Reads replies off a socket, one at a time: status, where it ends, how many events it had, and nothing else. */
export class ReplyReader {
  status = 0
  /** Of all replies so far. A blank line ends an event, and JSON has none. */
  events = 0
  #place: Place = 'head'
  #head: Buffer | null = null
  #left = 0
  #afterNewline = false

  /** True once the reply is all there. */
  push(bytes: Buffer): boolean {
    const body = this.#place === 'head' ? this.#readHead(bytes) : bytes
    if (body === null) return false
    const at = this.#place === 'sized body' ? this.#readSized(body) : this.#readChunks(body)
    if (at < body.length) throw new Error('more bytes than one reply has')
    return this.#place === 'head'
  }

  /** What follows the head, or null while it is not all there. */
  #readHead(bytes: Buffer): Buffer | null {
    const all = this.#head === null ? bytes : Buffer.concat([this.#head, bytes])
    const end = all.indexOf(headEnd)
    this.#head = end === -1 ? all : null
    if (end === -1) return null
    const head = all.toString('latin1', 0, end).toLowerCase()
    this.status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1]
    if (length === undefined && !head.includes('\r\ntransfer-encoding: chunked')) {
      throw new Error(`a reply that does not say where it ends:\n${head}`)
    }
    this.#place = length === undefined ? 'chunk size' : 'sized body'
    this.#left = Number(length ?? 0)
    return all.subarray(end + headEnd.length)
  }

  #readSized(body: Buffer): number {
    const taken = Math.min(this.#left, body.length)
    this.#left -= taken
    if (this.#left === 0) this.#place = 'head'
    return taken
  }

  #readChunks(body: Buffer): number {
    let at = 0
    while (at < body.length && this.#place !== 'head') {
      if (this.#place === 'chunk') {
        const end = Math.min(body.length, at + this.#left)
        this.#countEvents(body, at, end)
        this.#left -= end - at
        at = end
        if (this.#left === 0) this.#place = 'after chunk'
        continue
      }
      this.#readFraming(body[at] ?? 0)
      at += 1
    }
    return at
  }

  /** One byte of what is around the chunks. */
  #readFraming(byte: number): void {
    if (byte === newline) {
      if (this.#place === 'after chunk') this.#place = 'chunk size'
      else if (this.#place === 'trailer') this.#place = 'head'
      else this.#place = this.#left === 0 ? 'trailer' : 'chunk'
    } else if (byte !== carriageReturn && this.#place === 'chunk size') {
      this.#left = this.#left * 16 + Number.parseInt(String.fromCharCode(byte), 16)
    }
  }

  #countEvents(body: Buffer, from: number, end: number): void {
    for (let at = from; at < end; at += 1) {
      const isNewline = body[at] === newline
      if (isNewline && this.#afterNewline) this.events += 1
      this.#afterNewline = isNewline && !this.#afterNewline
    }
  }
}
