import type { Part } from '#platform/lifecycle/module.ts'
import { LineSlots } from './line-slots.ts'

/** A worker has 128 places for steps of all kinds, and a chunk holds its one for minutes. */
const lanesMax = 16

/** What this process has of batches in hand: a bounded number of chunks, and of lines over all of them. */
export class Lanes {
  readonly slots: LineSlots
  readonly concurrency: number
  readonly #ending = new AbortController()
  readonly #inHand = new Set<string>()

  constructor(concurrency: number) {
    this.concurrency = concurrency
    this.slots = new LineSlots(concurrency)
  }

  /** Aborts when the process is about to end: lines in hand are finished, and no further one is begun. */
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
    return { name: 'batch lanes', drain: async () => this.#ending.abort() }
  }
}
