import type { Limits, UsageEntry } from '#modules/limits/index.ts'
import { isDatabaseUnavailable } from '#platform/db/unavailable.ts'
import { backoff } from '#platform/std/backoff.ts'
import { sleep } from '#platform/std/clock.ts'
import { sumUse, type ModelUse } from '../domain/totals.ts'

/** What was used was paid for: a server that is started anew or replaced takes less. */
const recordForMs = 10 * 60_000
/** When the process ends, or whoever asked has gone. */
const leavingForMs = 20_000
const waits = { baseMs: 100, maxMs: 2_000, factor: 2, jitter: 0.5 }

/** What the model calls of one row used, until it is written down. */
export class RowMeter {
  readonly entries: UsageEntry[] = []
  readonly #settles: (() => void)[] = []

  /** `settle` gives back what was reserved and not used. */
  add(entries: readonly UsageEntry[], settle: () => void): void {
    this.entries.push(...entries)
    this.#settles.push(settle)
  }

  /** By model, every call counted. */
  get use(): ModelUse[] {
    return sumUse(
      this.entries.map(({ model, tokens }) => ({
        model,
        calls: 1,
        prompt: tokens.input,
        completion: tokens.output,
        cached: tokens.cached,
      })),
    )
  }

  /** The entries are in the ledger, with the result of the row. */
  kept(): void {
    this.entries.length = 0
    this.#settle()
  }

  #settle(): void {
    for (const settle of this.#settles.splice(0)) settle()
  }

  /**
   * The row comes to no result, or none that anybody heard of, and has used what it used all the same. Goes on while
   * PostgreSQL is away, for a while; for less once `leaving` is aborted.
   */
  async recordAlone(limits: Pick<Limits, 'recordOnce'>, leaving: AbortSignal): Promise<void> {
    let until = performance.now() + recordForMs
    let left: number | null = null
    try {
      for (let tries = 1; this.entries.length > 0; tries += 1) {
        try {
          await allDone(this.entries.map((entry) => limits.recordOnce(entry)))
          this.entries.length = 0
        } catch (error) {
          if (!isDatabaseUnavailable(error) || performance.now() > until) throw error
          await sleep(backoff(waits, tries, Math.random))
          if (leaving.aborted) until = Math.min(until, (left ??= performance.now()) + leavingForMs)
        }
      }
    } finally {
      this.#settle()
    }
  }
}

/** None is still under way when this throws: asked again beside itself, it would not find what it writes. */
async function allDone(work: readonly Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(work)) if (one.status === 'rejected') throw one.reason
}
