import type { Tx } from '#platform/db/tx.ts'
import { startChunks, type StartUses } from '#platform/durable/start-chunks.ts'
import type { BatchRow } from '../store/batches.ts'
import { chunks } from '../store/chunks.ts'
import { closeLanes, markFinishing } from '../store/lifecycle.ts'
import type { BatchOutcome } from '../store/tables.ts'

export interface NextUses extends StartUses {
  readonly submitFinish: (tx: Tx, id: string, generation: number) => Promise<void>
}

/** A chunk of a batch that `lockBatch` holds has ended: the next one starts, or the batch is finished. */
export async function afterChunk(use: NextUses, tx: Tx, batch: BatchRow): Promise<void> {
  await startChunks(use, tx, batch.project_id)
  const { waiting, submitted } = await chunks.countOpen(tx, batch.id)
  if (waiting + submitted > 0) return
  if (batch.status === 'in_progress') await closeLanes(tx, batch.id, 'completed')
  await finish(use, tx, batch.id)
}

/** Begins to end a batch that `lockBatch` holds. Chunks under way end first, and the last of them finishes it. */
export async function endEarly(
  use: NextUses,
  tx: Tx,
  batch: BatchRow,
  outcome: Exclude<BatchOutcome, 'failed' | 'completed'>,
): Promise<void> {
  await closeLanes(tx, batch.id, outcome)
  const { submitted } = await chunks.countOpen(tx, batch.id)
  if (submitted === 0) await finish(use, tx, batch.id)
}

async function finish(use: NextUses, tx: Tx, id: string): Promise<void> {
  await use.submitFinish(tx, id, await markFinishing(tx, id))
}
