/** How long texts may hold up one turn of the event loop. The one that goes past it is finished. */
const turnMsMax = 10

/**
 * Where this process renders, reads and compares the texts of strangers: a few milliseconds in one turn of the event loop,
 * so that everything else goes on, however many criteria and rows there are. What is left waits for the next turn, one of
 * each project after the other. No more wait than rows and graders are in hand.
 */
export class TextTurns {
  /** In the order of turns: a project that had one goes to the end. Nobody waits unless a turn is planned. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #spentMs = 0

  /** Throws what the signal was aborted with, if that was before the work began. */
  async run<Result>(projectId: string, signal: AbortSignal, work: () => Result): Promise<Result> {
    if (this.#spentMs < turnMsMax) return await this.#timed(signal, work)
    return await new Promise((resolve) => {
      const line = this.#waiting.get(projectId) ?? []
      this.#waiting.set(projectId, line)
      line.push(() => resolve(this.#timed(signal, work)))
    })
  }

  async #timed<Result>(signal: AbortSignal, work: () => Result): Promise<Result> {
    signal.throwIfAborted()
    const began = performance.now()
    try {
      return work()
    } finally {
      this.#spentMs += performance.now() - began
      if (this.#spentMs >= turnMsMax) setImmediate(() => this.#turn())
    }
  }

  #turn(): void {
    this.#spentMs = 0
    // Those that are put back at the end are come to again.
    for (const [projectId, line] of this.#waiting) {
      if (this.#spentMs >= turnMsMax) return
      this.#waiting.delete(projectId)
      const begin = line.shift()
      if (line.length > 0) this.#waiting.set(projectId, line)
      begin?.()
    }
  }
}
