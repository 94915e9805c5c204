/** A wait for a slot. */
interface Waiting {
  readonly enter: () => void
}

/**
 * How many rows of large work this process has in hand at once. Projects take turns: one with many chunks has no more
 * of them than one with a single row.
 */
export class FairSlots {
  readonly #max: number
  /** In the order of turns: a project that gets a slot goes to the end. */
  readonly #waiting = new Map<string, Set<Waiting>>()
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  get taken(): number {
    return this.#taken
  }

  /** True once a slot is taken; false when the signal came first, and nothing has to be given back. */
  async take(projectId: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#taken < this.#max) {
      this.#taken += 1
      return true
    }
    return await new Promise((resolve) => {
      const queue = this.#waiting.get(projectId) ?? new Set()
      this.#waiting.set(projectId, queue)
      const leave = () => {
        queue.delete(waiting)
        if (queue.size === 0 && this.#waiting.get(projectId) === queue) this.#waiting.delete(projectId)
        resolve(false)
      }
      const waiting: Waiting = {
        enter: () => {
          signal.removeEventListener('abort', leave)
          resolve(true)
        },
      }
      queue.add(waiting)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  free(): void {
    const [first] = this.#waiting
    if (first === undefined) {
      this.#taken -= 1
      return
    }
    const [projectId, queue] = first
    const [next] = queue
    this.#waiting.delete(projectId)
    if (next === undefined) return this.free()
    queue.delete(next)
    if (queue.size > 0) this.#waiting.set(projectId, queue)
    next.enter()
  }
}
