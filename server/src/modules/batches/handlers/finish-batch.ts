import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { Files } from '#modules/files/index.ts'
import type { Webhooks } from '#modules/webhooks/index.ts'
import { holdLease } from '#platform/db/hold-lease.ts'
import { fenced, orSuperseded } from '#platform/durable/fence.ts'
import { handler } from '#platform/durable/handler.ts'
import { assert } from '#platform/std/assert.ts'
import { writeFile, type WriteFileUses } from '../steps/write-file.ts'
import { claimFinishing, endBatch, stalledBatches, touchBatch, type ClaimedBatch } from '../store/lifecycle.ts'
import { countUnfinished, totalsOf } from '../store/results.ts'

export interface FinishBatchUses extends WriteFileUses {
  readonly files: Pick<Files, 'keep' | 'add'>
  readonly publish: Webhooks['publish']
}

const stepTimeoutMs = 60 * 60_000
const renewEveryMs = 5_000
const leaseMs = 30_000
const stalledMs = 30_000

/** Writes the files of a batch and ends it. */
export const finishBatch = handler({
  name: 'batches.finish',
  stepTimeoutMs,
  outstanding: async (tx, limit) => {
    const rows = await stalledBatches(tx, 'finishing', limit, stalledMs)
    return rows.map(({ id, generation }) => ({ key: `${id}:${generation}`, input: id }))
  },
  run: async (use: FinishBatchUses, id: string, { signal }) => {
    const batch = await claimFinishing(use.db, id)
    if (batch === null) return
    await using held = holdLease({
      renew: () => touchBatch(use.db, id, batch.attempt),
      everyMs: renewEveryMs,
      forMs: leaseMs,
      signal,
    })
    await orSuperseded(end(use, batch, held.signal), held.signal)
  },
})

async function end(use: FinishBatchUses, batch: ClaimedBatch, signal: AbortSignal): Promise<void> {
  const { id, outcome, attempt } = batch
  const projectId = batch.project_id as ProjectId
  assert(outcome !== null && outcome !== 'failed', 'a batch that finishes knows how')
  const expired = outcome === 'expired'
  const output = await writeFile(use, 'output', id, signal)
  const errors = await writeFile(use, expired ? 'errors_and_unfinished' : 'errors', id, signal)
  const sums = await totalsOf(use.db, id)
  const totals = expired ? { ...sums, failed: sums.failed + (await countUnfinished(use.db, id)) } : sums
  signal.throwIfAborted()
  await use.db.tx(async (tx) => {
    const add = async (kept: typeof output, name: string) =>
      kept === null
        ? null
        : await use.files.add(tx, {
            projectId,
            filename: `${id}_${name}.jsonl`,
            purpose: 'batch_output',
            expiresSeconds: batch.output_expires_seconds,
            kept,
          })
    const outputFileId = await add(output, 'output')
    const errorFileId = await add(errors, 'error')
    fenced(await endBatch(tx, id, attempt, { outcome, totals, outputFileId, errorFileId }))
    await use.publish(tx, { projectId, type: `batch.${outcome}`, data: { id } })
  })
}
