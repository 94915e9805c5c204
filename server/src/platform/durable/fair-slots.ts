/** A wait for a slot. */
interface Waiting {
  readonly enter: () => void
}

/** So many of the reserve are for one project. */
const reservePerProject = 4

/**
 * How many rows of large work this process has in hand at once. A slot that becomes free goes to the project that has the
 * fewest of those that wait; among equals they take turns. One project may take all of them: the reserve is for others, who
 * would else wait until a row of the first ends, and rows may take minutes.
 */
export class FairSlots {
  readonly #max: number
  readonly #reserve: number
  /** In the order of turns: a project that gets a slot goes to the end. */
  readonly #waiting = new Map<string, Set<Waiting>>()
  readonly #held = new Map<string, number>()
  #taken = 0

  constructor(max: number, reserve = 0) {
    this.#max = max
    this.#reserve = reserve
  }

  get taken(): number {
    return this.#taken
  }

  /** False when there is none now. */
  tryTake(projectId: string): boolean {
    const hasRoom = this.#hasRoom(projectId)
    if (hasRoom) this.#enter(projectId)
    return hasRoom
  }

  /** True once a slot is taken; false when the signal came first, and nothing has to be given back. */
  async take(projectId: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.tryTake(projectId)) return true
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

  /** Of the project that took it. */
  free(projectId: string): void {
    const held = this.#heldBy(projectId) - 1
    if (held > 0) this.#held.set(projectId, held)
    else this.#held.delete(projectId)
    this.#taken -= 1
    const next = this.#nextProject()
    const queue = next === null ? undefined : this.#waiting.get(next)
    const [waiting] = queue ?? []
    if (next === null || queue === undefined || waiting === undefined) return
    queue.delete(waiting)
    this.#waiting.delete(next)
    if (queue.size > 0) this.#waiting.set(next, queue)
    this.#enter(next)
    waiting.enter()
  }

  #heldBy(projectId: string): number {
    return this.#held.get(projectId) ?? 0
  }

  #hasRoom(projectId: string): boolean {
    if (this.#taken < this.#max) return true
    const held = this.#heldBy(projectId)
    return this.#taken < this.#max + this.#reserve && held < reservePerProject && 2 * held < this.#taken
  }

  #enter(projectId: string): void {
    this.#taken += 1
    this.#held.set(projectId, this.#heldBy(projectId) + 1)
  }

  #nextProject(): string | null {
    let next: string | null = null
    for (const projectId of this.#waiting.keys()) {
      if (!this.#hasRoom(projectId)) continue
      if (next === null || this.#heldBy(projectId) < this.#heldBy(next)) next = projectId
    }
    return next
  }
}
