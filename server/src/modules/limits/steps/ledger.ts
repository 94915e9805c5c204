import type { Db } from '#platform/db/db.ts'
import { Gathered } from '#platform/db/gathered.ts'
import type { Tx } from '#platform/db/tx.ts'
import { costNanos } from '../domain/cost.ts'
import type { LimitedModel } from '../domain/limits-book.ts'
import type { LimitsTables } from '../store/tables.ts'
import { insertUsage, type PricedEntry, type UsageEntry } from '../store/usage.ts'

const batchMax = 500
const atOnceMax = 2

/** What was used, with its price, in the transaction of the work it measures or at once. */
export class Ledger {
  readonly #findModel: (name: string) => LimitedModel | null
  readonly #alone: Gathered<PricedEntry, void>

  constructor(db: Db<LimitsTables>, findModel: (name: string) => LimitedModel | null) {
    this.#findModel = findModel
    const write = async (entries: readonly PricedEntry[]) => {
      await insertUsage(db, entries)
      return entries.map(() => undefined)
    }
    this.#alone = new Gathered<PricedEntry, void>(write, { batchMax, atOnceMax })
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

  costOf(entries: readonly UsageEntry[]): number {
    return entries.reduce((sum, entry) => sum + this.#priced(entry).costNanos, 0)
  }

  #priced(entry: UsageEntry): PricedEntry {
    const model = this.#findModel(entry.model)
    // A model that was taken out of the catalogue meanwhile has no price any more.
    return { ...entry, costNanos: model === null ? 0 : costNanos(model, entry.tokens) }
  }
}
