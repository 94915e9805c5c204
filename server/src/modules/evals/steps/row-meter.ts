import type { Limits, UsageEntry } from '#modules/limits/index.ts'
import { sumUse, type ModelUse } from '../domain/totals.ts'

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

  /** The row comes to no result, and has used what it used all the same. */
  async recordAlone(limits: Pick<Limits, 'recordAlone'>): Promise<void> {
    try {
      await Promise.all(this.entries.splice(0).map((entry) => limits.recordAlone(entry)))
    } finally {
      this.#settle()
    }
  }
}
