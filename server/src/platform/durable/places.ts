/**
 * A bounded number of places, taken in order. Steps wait here before the SDK has seen them: a stream that only waits
 * costs next to nothing, while one that the SDK has set up costs about a millisecond, and the engine may open
 * thousands at once when it comes back.
 */
export class Places {
  readonly #max: number
  readonly #waiting = new Set<() => void>()
  readonly #idle: (() => void)[] = []
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  get taken(): number {
    return this.#taken
  }

  /** True once a place is taken; false when the signal came first, and nothing has to be given back. */
  async take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#taken < this.#max) {
      this.#taken += 1
      return true
    }
    return await new Promise((resolve) => {
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve(true)
      }
      const giveUp = () => {
        this.#waiting.delete(enter)
        resolve(false)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.add(enter)
    })
  }

  free(): void {
    const [next] = this.#waiting
    if (next !== undefined) {
      this.#waiting.delete(next)
      next()
      return
    }
    this.#taken -= 1
    if (this.#taken === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Resolves once no place is taken. */
  async idle(): Promise<void> {
    if (this.#taken === 0) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }
}
