import type { Db } from '#platform/db/db.ts'
import { lockBatch } from '../store/batches.ts'
import { isDue, listDue } from '../store/lifecycle.ts'
import type { BatchesTables } from '../store/tables.ts'
import { endEarly, type NextUses } from './start-next.ts'

const batchesMax = 100

/** Begins to end the batches whose 24 hours are over. Returns how many. */
export async function sweepExpired(use: NextUses & { readonly db: Db<BatchesTables> }): Promise<number> {
  const ids = await listDue(use.db, batchesMax)
  for (const id of ids) {
    await use.db.tx(async (tx) => {
      const batch = await lockBatch(tx, id)
      if (batch !== null && (await isDue(tx, id))) await endEarly(use, tx, batch, 'expired')
    })
  }
  return ids.length
}
