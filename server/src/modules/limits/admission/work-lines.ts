import { WorkLine, type Work } from './work-line.ts'

/** Lines that are remembered while nobody stands in them: how wide they were, and when a wait was noted. */
const linesMax = 1_000

/** The lines of this process, by what they draw on. */
export class WorkLines<T> {
  readonly #lines = new Map<string, WorkLine<T>>()

  async enter(name: string, work: Work<T>, signal: AbortSignal): Promise<T> {
    let line = this.#lines.get(name)
    if (line === undefined) {
      this.#forgetIdle()
      line = new WorkLine()
      this.#lines.set(name, line)
    }
    return await line.enter(work, signal)
  }

  #forgetIdle(): void {
    if (this.#lines.size < linesMax) return
    for (const [name, line] of this.#lines) if (line.isEmpty) this.#lines.delete(name)
  }
}
