import type { batchOperations } from '@switchyard/contracts/batches.ts'
import { sql } from 'kysely'
import { newBatch } from '../examples/batches.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'

const noBatch: FaultCase = async () => ({ params: { batch_id: 'batch_none' }, param: 'batch_id' })
const body = { input_file_id: 'file-none', endpoint: '/v1/responses', completion_window: '24h' }

export const batchFaults: FaultCases<typeof batchOperations> = {
  'batches.create': {
    not_found: async () => ({ body, param: 'input_file_id' }),
    unsupported_value: async () => ({ body: { ...body, endpoint: '/v1/embeddings' }, param: 'endpoint' }),
  },
  'batches.retrieve': { not_found: noBatch },
  'batches.cancel': {
    not_found: noBatch,
    async invalid_state_transition(at) {
      const { id } = await newBatch(at)
      await sql`update batches.batch set status = 'completed', ended_at = clock_timestamp() where id = ${id}`.execute(
        at.app.db.kysely,
      )
      return { params: { batch_id: id }, param: 'batch_id' }
    },
  },
}
