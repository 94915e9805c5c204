import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { holdLease } from '#platform/db/hold-lease.ts'
import { orSuperseded } from '#platform/durable/fence.ts'
import { handler } from '#platform/durable/handler.ts'
import { begin, type BeginUses } from '../steps/begin-batch.ts'
import { readInput, type ReadInputUses } from '../steps/read-input.ts'
import { claimValidating, stalledBatches, touchBatch } from '../store/lifecycle.ts'

export type ValidateBatchUses = ReadInputUses & BeginUses

const stepTimeoutMs = 10 * 60_000
const renewEveryMs = 5_000
const leaseMs = 30_000
/** Longer than from one renewal to the next, waiting in the engine included. */
const stalledMs = 30_000

/** Reads the input file of a batch, and lets it run or fail. */
export const validateBatch = handler({
  name: 'batches.validate',
  stepTimeoutMs,
  outstanding: async (tx, limit) => {
    const rows = await stalledBatches(tx, 'validating', limit, stalledMs)
    return rows.map(({ id, generation }) => ({ key: `${id}:${generation}`, input: id }))
  },
  run: async (use: ValidateBatchUses, id: string, { signal }) => {
    const batch = await claimValidating(use.db, id)
    if (batch === null) return
    await using held = holdLease({
      renew: () => touchBatch(use.db, id, batch.attempt),
      everyMs: renewEveryMs,
      forMs: leaseMs,
      signal,
    })
    const input = await orSuperseded(readInput(use, batch, held.signal), held.signal)
    const limit =
      input.model === null
        ? null
        : await use.queueLimit(batch.org_id as OrgId, batch.project_id as ProjectId, input.model)
    await use.db.tx((tx) => begin(use, tx, batch, input, limit))
  },
})
