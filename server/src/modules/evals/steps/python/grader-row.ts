/** One row on its way through a Python grader. */
export class GraderRow {
  readonly text: string
  readonly bytes: number
  /** How often our own machinery has let it down. */
  tries = 0
  /** How often the harness was lost while it was graded: it may be to blame, and is tried alone. */
  losses = 0
  /** It was in a batch that ended and left no report: tried alone too. */
  suspected = false
  readonly score: Promise<number>
  #settled = false
  readonly #resolve: (score: number) => void
  readonly #reject: (reason: unknown) => void
  readonly #forget: () => void

  constructor(text: string, bytes: number, signal: AbortSignal, onGone: () => void) {
    this.text = text
    this.bytes = bytes
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.score = promise
    this.#resolve = resolve
    this.#reject = reject
    const gone = () => {
      this.fail(signal.reason)
      onGone()
    }
    signal.addEventListener('abort', gone, { once: true })
    this.#forget = () => signal.removeEventListener('abort', gone)
  }

  get settled(): boolean {
    return this.#settled
  }

  pass(score: number): void {
    this.#settle()
    this.#resolve(score)
  }

  fail(reason: unknown): void {
    this.#settle()
    this.#reject(reason)
  }

  #settle(): void {
    this.#settled = true
    this.#forget()
  }
}
