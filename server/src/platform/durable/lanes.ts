import type { Part } from '../lifecycle/module.ts'
import { FairSlots } from './fair-slots.ts'

/** A worker has 128 places for steps of all kinds, and a chunk holds its one for minutes. */
const lanesMax = 16

/** What this process has of one kind of large work in hand: a bounded number of chunks, and of rows over all of them. */
export class Lanes {
  readonly slots: FairSlots
  readonly concurrency: number
  readonly #ending = new AbortController()
  readonly #inHand = new Set<string>()
  readonly #name: string

  constructor(name: string, concurrency: number) {
    this.#name = name
    this.concurrency = concurrency
    this.slots = new FairSlots(concurrency)
  }

  /** Aborts when the process is about to end: rows in hand are finished, and no further one is begun. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /**
   * False: there is no room for another chunk, or this one is in hand. A copy of its step, sent because the first was
   * slow to begin, must not take it away from itself.
   */
  enter(chunk: string): boolean {
    if (this.#inHand.size >= lanesMax || this.#inHand.has(chunk) || this.#ending.signal.aborted) return false
    this.#inHand.add(chunk)
    return true
  }

  leave(chunk: string): void {
    this.#inHand.delete(chunk)
  }

  part(): Part {
    return { name: this.#name, drain: async () => this.#ending.abort() }
  }
}
