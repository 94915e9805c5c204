import { cancelEvalRun, cancelEvalRunInPlace, deleteEvalRun } from '@switchyard/contracts/evals/runs.ts'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { route } from '#platform/http/route.ts'
import { endNow, type EndUses } from '../steps/end-run.ts'
import { findEval } from '../store/evals.ts'
import * as store from '../store/runs.ts'
import { noSuchEval, noSuchRun } from './faults.ts'
import { viewNow, type ReadRunsUses } from './read-runs.ts'

export type EndRunUses = ReadRunsUses & EndUses

/** A run that has ended stays as it is. */
async function cancel(use: EndRunUses, projectId: ProjectId, evalId: string, id: string) {
  const of = await findEval(use.db, projectId, evalId)
  if (of === null) throw noSuchEval()
  if ((await store.findRun(use.db, projectId, evalId, id)) === null) throw noSuchRun()
  const row = await use.db.tx(async (tx) => {
    const run = await store.lockRun(tx, id)
    if (run === null) throw noSuchRun()
    if (run.ended_at !== null) return run
    await endNow(use, tx, run, 'canceled')
    return (await store.lockRun(tx, id)) ?? run
  })
  return await viewNow(use, of, row)
}

export const cancelRunRoute = (use: EndRunUses) =>
  route(cancelEvalRun, ({ scope, params }) => cancel(use, scope.projectId, params.eval_id, params.run_id))

export const cancelRunInPlaceRoute = (use: EndRunUses) =>
  route(cancelEvalRunInPlace, ({ scope, params }) => cancel(use, scope.projectId, params.eval_id, params.run_id))

export const deleteRunRoute = (use: EndRunUses) =>
  route(deleteEvalRun, async ({ scope, params: { eval_id: evalId, run_id: id } }) => {
    if ((await findEval(use.db, scope.projectId, evalId)) === null) throw noSuchEval()
    if ((await store.findRun(use.db, scope.projectId, evalId, id)) === null) throw noSuchRun()
    await use.db.tx(async (tx) => {
      const run = await store.lockRun(tx, id)
      if (run?.ended_at === null) await endNow(use, tx, run, 'canceled')
      await store.markRunDeleted(tx, id)
    })
    return { object: 'eval.run.deleted' as const, deleted: true as const, run_id: id }
  })
