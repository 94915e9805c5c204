import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { Webhooks } from '#modules/webhooks/index.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { startChunks, type StartUses } from '#platform/durable/start-chunks.ts'
import { chunks, closeAllChunks, sumChunks } from '../store/chunks.ts'
import { endRun, type RunOutcome } from '../store/lifecycle.ts'
import { listAbandonedRuns, listWorkingProjects, lockRun, type RunRow } from '../store/runs.ts'
import type { EvalsTables, Reason } from '../store/tables.ts'

export interface EndUses extends StartUses {
  readonly publish: Webhooks['publish']
}

type EndedRun = Pick<RunRow, 'id' | 'eval_id' | 'project_id'>

const news = {
  completed: 'eval.run.succeeded',
  failed: 'eval.run.failed',
  canceled: 'eval.run.canceled',
} as const satisfies Record<RunOutcome, string>

/**
 * Ends a run that `lockRun` holds and that has not ended: its sums, its end and the news of it are one. The last thing
 * that its transaction waits for: it leaves chunks of other runs locked.
 */
export async function endNow(
  use: EndUses,
  tx: Tx,
  run: EndedRun,
  outcome: RunOutcome,
  error: Reason | null = null,
): Promise<void> {
  await endAlone(use, tx, run, outcome, error)
  // Its places are free for others.
  await startChunks(use, tx, run.project_id)
}

async function endAlone(
  use: Pick<EndUses, 'publish'>,
  tx: Tx,
  run: EndedRun,
  outcome: RunOutcome,
  error: Reason | null,
): Promise<void> {
  await closeAllChunks(tx, run.id)
  await endRun(tx, run.id, { outcome, error, totals: await sumChunks(tx, run.id) })
  const { project_id: projectId } = run
  await use.publish(tx, { projectId, type: news[outcome], data: { id: run.id, eval_id: run.eval_id } })
}

const abandonedMax = 100
const projectsMax = 10_000

/**
 * Ends runs of deleted evals and of archived projects, each by itself. Their places are left to the sweep of waiting
 * chunks: filled here, they would go to runs that are ended next. Returns how many there were.
 */
export async function endAbandonedRuns(
  use: Pick<EndUses, 'publish'> & {
    readonly db: Db<EvalsTables>
    readonly archivedOf: (ids: readonly ProjectId[]) => Promise<ProjectId[]>
  },
): Promise<number> {
  const archived = await use.archivedOf(await listWorkingProjects(use.db, projectsMax))
  const ids = await listAbandonedRuns(use.db, archived, abandonedMax)
  for (const id of ids) {
    await use.db.tx(async (tx) => {
      const run = await lockRun(tx, id)
      if (run?.ended_at === null) await endAlone(use, tx, run, 'canceled', null)
    })
  }
  return ids.length
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
