import type { Webhooks } from '#modules/webhooks/index.ts'
import type { Tx } from '#platform/db/tx.ts'
import { startChunks, type StartUses } from '#platform/durable/start-chunks.ts'
import { chunks, closeAllChunks, sumChunks } from '../store/chunks.ts'
import { endRun, type RunOutcome } from '../store/lifecycle.ts'
import type { RunRow } from '../store/runs.ts'
import type { Reason } from '../store/tables.ts'

export interface EndUses extends StartUses {
  readonly publish: Webhooks['publish']
}

const news = {
  completed: 'eval.run.succeeded',
  failed: 'eval.run.failed',
  canceled: 'eval.run.canceled',
} as const satisfies Record<RunOutcome, string>

/** Ends a run that `lockRun` holds and that has not ended: its sums, its end and the news of it are one. */
export async function endNow(
  use: EndUses,
  tx: Tx,
  run: Pick<RunRow, 'id' | 'eval_id' | 'project_id'>,
  outcome: RunOutcome,
  error: Reason | null = null,
): Promise<void> {
  await closeAllChunks(tx, run.id)
  await endRun(tx, run.id, { outcome, error, totals: await sumChunks(tx, run.id) })
  const { project_id: projectId } = run
  await use.publish(tx, { projectId, type: news[outcome], data: { id: run.id, eval_id: run.eval_id } })
  // Its places are free for others.
  await startChunks(use, tx, projectId)
}

/** A chunk of a run that `lockRun` holds is done: the next one starts, or the run is complete. True: it is complete. */
export async function afterChunk(use: EndUses, tx: Tx, run: RunRow): Promise<boolean> {
  const open = await chunks.countOpen(tx, run.id)
  if (open.waiting + open.submitted === 0) {
    await endNow(use, tx, run, 'completed')
    return true
  }
  await startChunks(use, tx, run.project_id)
  return false
}
