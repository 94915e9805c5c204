import { listBatches, retrieveBatch } from '@switchyard/contracts/batches.ts'
import type { BatchId } from '@switchyard/contracts/ids.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { batchView, type Totals } from '../domain/batch-view.ts'
import * as store from '../store/batches.ts'
import { totalsSoFar } from '../store/results.ts'
import type { BatchesTables } from '../store/tables.ts'
import { noSuchBatch } from './faults.ts'

type Uses = { readonly db: Db<BatchesTables> }

/** The sums of those that have not ended; the others carry theirs. */
function soFar(use: Uses, rows: readonly store.BatchRow[]): Promise<ReadonlyMap<string, Totals>> {
  const running = rows.filter(({ totals, in_progress_at: begun }) => totals === null && begun !== null)
  return totalsSoFar(
    use.db,
    running.map(({ id }) => id),
  )
}

export const retrieveBatchRoute = (use: Uses) =>
  route(retrieveBatch, async ({ scope, params }) => {
    const row = await store.findBatch(use.db, scope.projectId, params.batch_id)
    if (row === null) throw noSuchBatch()
    return batchView(row, (await soFar(use, [row])).get(row.id))
  })

export const listBatchesRoute = (use: Uses) =>
  route(listBatches, async ({ scope, query: { after, limit } }) => {
    if (after !== undefined && (await store.findBatch(use.db, scope.projectId, after as BatchId)) === null) {
      throw new Fault('invalid_value', 'No batch with the id given in after.', { param: 'after' })
    }
    const rows = await store.listBatches(use.db, scope.projectId, { after, limit })
    const totals = await soFar(use, rows)
    return pageView(rows, limit, (row) => batchView(row, totals.get(row.id)))
  })
