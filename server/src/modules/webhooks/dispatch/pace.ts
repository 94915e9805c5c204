/** What an endpoint gets before it has answered: it may be one that hangs. */
const firstConcurrency = 4
const failuresBeforePause = 4
const pauseStepMs = 20
const pauseMaxMs = 500

/**
 * How much is sent to one endpoint at once: more with each good answer, half after a bad one. One that only fails costs
 * one slot, and an attempt every half second is enough to notice that it is back.
 */
export class Pace {
  readonly #most: number
  /** As in the schedule: smaller shrinks every wait alike. */
  readonly #scale: number
  #concurrency: number
  #failuresInRow = 0

  constructor(most: number, scale: number) {
    this.#most = most
    this.#scale = scale
    this.#concurrency = Math.min(firstConcurrency, most)
  }

  get concurrency(): number {
    return this.#concurrency
  }

  /** For an endpoint that is known to fail. */
  beCautious(): void {
    this.#concurrency = 1
  }

  /** How long the slot rests after an attempt. */
  after(delivered: boolean): number {
    if (delivered) {
      this.#failuresInRow = 0
      this.#concurrency = Math.min(this.#most, this.#concurrency + 1)
      return 0
    }
    this.#failuresInRow += 1
    this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2))
    if (this.#failuresInRow < failuresBeforePause) return 0
    return Math.min(pauseMaxMs, pauseStepMs * this.#failuresInRow) * this.#scale
  }
}
