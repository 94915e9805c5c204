import type { Reason } from './reasons.ts'

/** Either end of a connection. */
export type End = { destroy(): unknown }

/** One connection out of a container, from its first byte to its last. Cutting it destroys every socket it opened. */
export class Visit {
  host = ''
  port: number
  /** Why it was cut from outside, for the receipt. */
  cutFor: Reason | null = null
  readonly #ends = new Set<End>()
  #counted = { in: 0, out: 0 }

  constructor(port: number) {
    this.port = port
  }

  holds(end: End): void {
    if (this.cutFor === null) this.#ends.add(end)
    else end.destroy()
  }

  /** What a connection has carried since this was last asked: the share of one of its requests. */
  takeBytes(socket: { bytesRead: number; bytesWritten: number }): { bytesIn: number; bytesOut: number } {
    const before = this.#counted
    this.#counted = { in: socket.bytesWritten, out: socket.bytesRead }
    return { bytesIn: this.#counted.in - before.in, bytesOut: this.#counted.out - before.out }
  }

  cut(reason: Reason): void {
    this.cutFor ??= reason
    this.close()
  }

  close(): void {
    for (const end of this.#ends) end.destroy()
    this.#ends.clear()
  }
}
