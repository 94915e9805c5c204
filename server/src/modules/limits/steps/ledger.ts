import type { Db } from '#platform/db/db.ts'
import { Gathered } from '#platform/db/gathered.ts'
import type { Tx } from '#platform/db/tx.ts'
import { costNanos } from '../domain/cost.ts'
import type { LimitedModel } from '../domain/limits-book.ts'
import type { LimitsTables } from '../store/tables.ts'
import { insertMissingUsage, insertUsage, type PricedEntry, type UsageEntry } from '../store/usage.ts'

const batchMax = 500
const atOnceMax = 2

/** What was used, with its price, in the transaction of the work it measures or at once. */
export class Ledger {
  readonly #findModel: (name: string) => LimitedModel | null
  readonly #alone: Gathered<PricedEntry, void>
  readonly #once: Gathered<PricedEntry, void>

  constructor(db: Db<LimitsTables>, findModel: (name: string) => LimitedModel | null) {
    this.#findModel = findModel
    const gathered = (insert: typeof insertMissingUsage) =>
      new Gathered<PricedEntry, void>(
        async (entries) => {
          await insert(db, entries)
          return entries.map(() => undefined)
        },
        { batchMax, atOnceMax },
      )
    this.#alone = gathered(insertUsage)
    this.#once = gathered(insertMissingUsage)
  }

  async record(tx: Tx, entries: readonly UsageEntry[]): Promise<void> {
    await insertUsage(
      tx,
      entries.map((entry) => this.#priced(entry)),
    )
  }

  /** For work that has no transaction of its own. Resolves once it is durable. */
  async recordAlone(entry: UsageEntry): Promise<void> {
    await this.#alone.ask(this.#priced(entry))
  }

  /** The same for a model call that has one entry, and may have it already: nobody heard. May be asked again and again. */
  async recordOnce(entry: UsageEntry): Promise<void> {
    await this.#once.ask(this.#priced(entry))
  }

  costOf(entries: readonly UsageEntry[]): number {
    return entries.reduce((sum, entry) => sum + this.#priced(entry).costNanos, 0)
  }

  #priced(entry: UsageEntry): PricedEntry {
    const model = this.#findModel(entry.model)
    // A model that was taken out of the catalogue meanwhile has no price any more.
    return { ...entry, costNanos: model === null ? 0 : costNanos(model, entry.tokens) }
  }
}
