import { createBatch } from '@switchyard/contracts/batches.ts'
import type { BatchId } from '@switchyard/contracts/ids.ts'
import type { Files } from '#modules/files/index.ts'
import type { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { batchView } from '../domain/batch-view.ts'
import { insertBatch } from '../store/batches.ts'

/** `24h`, the only window there is. */
const windowSeconds = 24 * 3_600

const param = 'input_file_id'

export const createBatchRoute = (use: {
  readonly files: Pick<Files, 'open'>
  readonly submitValidation: (tx: Tx, id: string) => Promise<void>
}) =>
  route(createBatch, async ({ scope, body, commit }) => {
    const file = await use.files.open(scope.projectId, body.input_file_id)
    if (file === null) throw new Fault('not_found', 'No such file.', { param })
    if (file.purpose !== 'batch') {
      throw new Fault('invalid_value', `The file has the purpose '${file.purpose}'; upload it with 'batch'.`, { param })
    }
    return await commit(async (tx) => {
      const row = await insertBatch(tx, {
        id: newId<BatchId>('batch_'),
        orgId: scope.orgId,
        projectId: scope.projectId,
        keyId: scope.keyId,
        endpoint: body.endpoint,
        inputFileId: body.input_file_id,
        metadata: body.metadata ?? null,
        outputExpiresSeconds: body.output_expires_after?.seconds ?? null,
        windowSeconds,
      })
      await use.submitValidation(tx, row.id)
      return batchView(row)
    })
  })
