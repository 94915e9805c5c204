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

  constructor(port: number) {
    this.port = port
  }

  holds(end: End): void {
    if (this.cutFor === null) this.#ends.add(end)
    else end.destroy()
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
