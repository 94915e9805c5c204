/** Responses of one socket that run at once; further lanes wait for a place. */
export const runningMax = 16
/** Lanes with something to do at once. */
export const lanesMax = 64
/** Frames of one socket that wait their turn. */
export const waitingMax = 64
/** The same in bytes. */
export const waitingBytesMax = 16 * 1024 * 1024

type Turn = () => Promise<void>

interface Waiting {
  readonly turn: Turn
  readonly drop: () => void
  readonly bytes: number
}

/** What one lane has to do. It is there only while there is something. */
interface Lane {
  readonly waiting: Waiting[]
  running: boolean
}

/** Turns of one lane run one after the other, in the order in which they came; those of different lanes side by side. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  #running = 0
  #waiting = 0
  #waitingBytes = 0
  #idle: (() => void)[] = []

  get running(): number {
    return this.#running
  }

  /** Null when it was taken; otherwise what there is too much of. `drop` is called instead of the turn if it never runs. */
  add(name: string, turn: Turn, drop: () => void, bytes: number): string | null {
    const lane = this.#lanes.get(name)
    if (lane === undefined && this.#lanes.size >= lanesMax) return `More than ${lanesMax} lanes are in use.`
    const mustWait = lane !== undefined || this.#running >= runningMax
    if (mustWait && this.#waiting >= waitingMax) return `More than ${waitingMax} events wait on this connection.`
    if (mustWait && this.#waitingBytes + bytes > waitingBytesMax) {
      return `More than ${waitingBytesMax} bytes of events wait on this connection.`
    }
    const queue = lane ?? { waiting: [], running: false }
    this.#lanes.set(name, queue)
    queue.waiting.push({ turn, drop, bytes })
    this.#waiting += 1
    this.#waitingBytes += bytes
    this.#startNext()
    return null
  }

  /** Drops what has not begun. */
  dropWaiting(): void {
    for (const [name, lane] of this.#lanes) {
      for (const { drop } of lane.waiting.splice(0)) drop()
      if (!lane.running) this.#lanes.delete(name)
    }
    this.#waiting = 0
    this.#waitingBytes = 0
  }

  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** The lane that waits longest goes first. */
  #startNext(): void {
    for (const [name, lane] of this.#lanes) {
      if (this.#running >= runningMax) return
      if (lane.running) continue
      const next = lane.waiting.shift()
      if (next === undefined) {
        this.#lanes.delete(name)
        continue
      }
      this.#waiting -= 1
      this.#waitingBytes -= next.bytes
      lane.running = true
      this.#running += 1
      void next.turn().finally(() => this.#ended(name, lane))
    }
  }

  #ended(name: string, lane: Lane): void {
    lane.running = false
    this.#running -= 1
    // To the end: another lane may have waited for this place.
    this.#lanes.delete(name)
    if (lane.waiting.length > 0) this.#lanes.set(name, lane)
    this.#startNext()
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}
