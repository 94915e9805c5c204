interface Waiting<Ask, Answer> {
  readonly ask: Ask
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export interface GatheredOptions {
  /** Asks of one statement. */
  readonly batchMax: number
  /** Statements under way at once; what comes meanwhile waits for the next. */
  readonly atOnceMax: number
}

/**
 * Puts what many callers ask at the same time into one statement. It is sent after everything that the event loop has in
 * hand was read, and never before an ask it answers: nobody learns less than from a statement of their own. A round trip
 * costs more than everything that a small statement does, on both sides.
 */
export class Gathered<Ask, Answer> {
  readonly #run: (asks: readonly Ask[]) => Promise<readonly Answer[]>
  readonly #options: GatheredOptions
  readonly #waiting: Waiting<Ask, Answer>[] = []
  #underWay = 0
  #planned = false

  /** `run` gives the answers in the order of the asks. When it fails, it has failed for each. */
  constructor(run: (asks: readonly Ask[]) => Promise<readonly Answer[]>, options: GatheredOptions) {
    this.#run = run
    this.#options = options
  }

  ask(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ask, resolve, reject })
      this.#plan()
    })
  }

  #plan(): void {
    if (this.#planned || this.#waiting.length === 0 || this.#underWay >= this.#options.atOnceMax) return
    this.#planned = true
    setImmediate(() => {
      this.#planned = false
      void this.#send(this.#waiting.splice(0, this.#options.batchMax))
      this.#plan()
    })
  }

  async #send(batch: readonly Waiting<Ask, Answer>[]): Promise<void> {
    this.#underWay += 1
    try {
      const answers = await this.#run(batch.map(({ ask }) => ask))
      for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Answer)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      this.#underWay -= 1
      this.#plan()
    }
  }
}
