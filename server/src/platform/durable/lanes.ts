import type { Part } from '../lifecycle/module.ts'
import { FairSlots } from './fair-slots.ts'

/** A worker has 128 places for steps of all kinds, and a chunk holds its one for minutes. */
export const lanesMax = 16
/** Of them, for projects that have none. */
export const lanesKept = 4
/** Of the rows at once, above them, for projects that find all of them taken. */
const reserveShare = 8
/** Once it has had a lane for so long, a chunk makes room for a project that has none. */
export const handOnMs = 60_000

interface Held {
  readonly projectId: string
  readonly since: number
  readonly handOn: AbortController
}

/** A chunk's place in this process. */
export interface Place {
  /** Others wait: no further row is to be begun, and the chunk is taken up again later. */
  readonly handOn: AbortSignal
  leave(): void
}

/** What this process has of one kind of large work in hand: a bounded number of chunks, and of rows over all of them. */
export class Lanes {
  readonly slots: FairSlots
  readonly concurrency: number
  readonly #ending = new AbortController()
  readonly #inHand = new Map<string, Held>()
  readonly #name: string
  readonly #now: () => number

  constructor(name: string, concurrency: number, now = () => performance.now()) {
    this.#name = name
    this.concurrency = concurrency
    this.slots = new FairSlots(concurrency, Math.ceil(concurrency / reserveShare))
    this.#now = now
  }

  /** Aborts when the process is about to end: rows in hand are finished, and no further one is begun. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /**
   * Null: there is no room for another chunk, or this one is in hand. A copy of its step, sent because the first was
   * slow to begin, must not take it away from itself.
   */
  enter(projectId: string, chunk: string): Place | null {
    if (this.#inHand.has(chunk) || this.#ending.signal.aborted) return null
    const isFirst = this.#countOf(projectId) === 0
    if (this.#inHand.size >= (isFirst ? lanesMax : lanesMax - lanesKept)) {
      if (isFirst) this.#makeRoom()
      return null
    }
    const held = { projectId, since: this.#now(), handOn: new AbortController() }
    this.#inHand.set(chunk, held)
    return { handOn: held.handOn.signal, leave: () => this.#inHand.delete(chunk) }
  }

  part(): Part {
    return { name: this.#name, drain: async () => this.#ending.abort() }
  }

  #countOf(projectId: string): number {
    return [...this.#inHand.values()].filter((held) => held.projectId === projectId).length
  }

  /** The longest held of the project that has the most. */
  #makeRoom(): void {
    let most: { held: Held; count: number } | null = null
    for (const held of this.#inHand.values()) {
      const count = this.#countOf(held.projectId)
      if (most === null || count > most.count) most = { held, count }
    }
    if (most !== null && this.#now() - most.held.since >= handOnMs) most.held.handOn.abort()
  }
}
