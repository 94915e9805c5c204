import { cancelBatch } from '@switchyard/contracts/batches.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { batchView } from '../domain/batch-view.ts'
import { endEarly, type NextUses } from '../steps/start-next.ts'
import { lockBatch } from '../store/batches.ts'
import { totalsSoFar } from '../store/results.ts'
import type { BatchesTables } from '../store/tables.ts'
import { noSuchBatch } from './faults.ts'

export const cancelBatchRoute = (use: NextUses & { readonly db: Db<BatchesTables> }) =>
  route(cancelBatch, async ({ scope, params }) => {
    const id = params.batch_id
    const cancelled = await use.db.tx(async (tx) => {
      const batch = await lockBatch(tx, id, scope.projectId)
      if (batch === null) throw noSuchBatch()
      if (batch.status === 'cancelling') return batch
      if (batch.status !== 'validating' && batch.status !== 'in_progress') {
        throw new Fault('invalid_state_transition', `A batch that is ${batch.status} cannot be cancelled.`, {
          param: 'batch_id',
        })
      }
      await endEarly(use, tx, batch, 'cancelled')
      return (await lockBatch(tx, id)) ?? batch
    })
    const totals = await totalsSoFar(use.db, [id])
    return batchView(cancelled, totals.get(id))
  })
