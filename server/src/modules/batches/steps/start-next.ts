import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { BatchRow } from '../store/batches.ts'
import {
  countOpenChunks,
  countSubmitted,
  listWaitingProjects,
  startNextChunk,
  type SubmittedChunk,
} from '../store/chunks.ts'
import { closeLanes, markFinishing } from '../store/lifecycle.ts'
import type { BatchesTables, BatchOutcome } from '../store/tables.ts'

export interface NextUses {
  /** Chunks of one project that may be submitted at once. */
  readonly chunksMax: number
  readonly submitChunk: (tx: Tx, chunk: SubmittedChunk & { at?: Date }) => Promise<void>
  readonly submitFinish: (tx: Tx, id: string, generation: number) => Promise<void>
}

/** Fills the places that a project has free with chunks that wait. */
export async function startNext(use: NextUses, tx: Tx, projectId: string): Promise<void> {
  const free = use.chunksMax - (await countSubmitted(tx, projectId))
  for (let place = 0; place < free; place += 1) {
    const chunk = await startNextChunk(tx, projectId)
    if (chunk === null) return
    await use.submitChunk(tx, chunk)
  }
}

/** A chunk of a batch that `lockBatch` holds has ended: the next one starts, or the batch is finished. */
export async function afterChunk(use: NextUses, tx: Tx, batch: BatchRow): Promise<void> {
  await startNext(use, tx, batch.project_id)
  const { waiting, submitted } = await countOpenChunks(tx, batch.id)
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
  const { submitted } = await countOpenChunks(tx, batch.id)
  if (submitted === 0) await finish(use, tx, batch.id)
}

async function finish(use: NextUses, tx: Tx, id: string): Promise<void> {
  await use.submitFinish(tx, id, await markFinishing(tx, id))
}

const projectsMax = 100

/** One that began to wait while the last of its project ended was seen by neither: this finds it. */
export async function sweepWaiting(use: NextUses & { readonly db: Db<BatchesTables> }): Promise<number> {
  const projects = await listWaitingProjects(use.db, projectsMax)
  for (const projectId of projects) await use.db.tx((tx) => startNext(use, tx, projectId))
  return 0
}
