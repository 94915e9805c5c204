import { backoff } from '../std/backoff.ts'
import { sleep } from '../std/clock.ts'

const waits = { baseMs: 500, maxMs: 60_000, factor: 2, jitter: 0.5 }

/** Large work uses what others leave: when the provider turns one row away, all rows of the lane wait a while. */
export class LanePause {
  #until = 0
  #turnedAway = 0

  /** How long the lane would still wait. */
  get leftMs(): number {
    return Math.max(0, this.#until - performance.now())
  }

  lengthen(retryAfterMs: number | undefined): void {
    // Rows that were under way together are turned away together: that is one sign of load, not sixteen.
    if (this.leftMs === 0) this.#turnedAway += 1
    const wait = Math.max(backoff(waits, Math.max(1, this.#turnedAway), Math.random), retryAfterMs ?? 0)
    this.#until = Math.max(this.#until, performance.now() + Math.min(wait, waits.maxMs))
  }

  forget(): void {
    this.#turnedAway = 0
  }

  async over(signal: AbortSignal): Promise<void> {
    while (this.leftMs > 0 && !signal.aborted) await sleep(this.leftMs, signal)
  }
}
