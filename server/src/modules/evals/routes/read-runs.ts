import { listEvalRuns, retrieveEvalRun } from '@switchyard/contracts/evals/runs.ts'
import type { TestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import { cutPage } from '@switchyard/contracts/page.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { runView } from '../domain/run-view.ts'
import { totalsSoFar } from '../store/chunks.ts'
import { findEval, type EvalRow } from '../store/evals.ts'
import * as store from '../store/runs.ts'
import type { EvalsTables } from '../store/tables.ts'
import { noSuchEval, noSuchRun } from './faults.ts'

export interface ReadRunsUses {
  readonly db: Db<EvalsTables>
  readonly publicUrl: string
}

/** The sums of one that has not ended are counted; the others carry theirs. */
export async function viewNow(use: ReadRunsUses, of: Pick<EvalRow, 'testing_criteria'>, row: store.RunRow) {
  const soFar = row.totals === null && row.loaded ? await totalsSoFar(use.db, row.id) : undefined
  return runView(row, of.testing_criteria as unknown as TestingCriterion[], use.publicUrl, soFar)
}

export const retrieveRunRoute = (use: ReadRunsUses) =>
  route(retrieveEvalRun, async ({ scope, params: { eval_id: evalId, run_id: id } }) => {
    const [of, row] = await Promise.all([
      findEval(use.db, scope.projectId, evalId),
      store.findRun(use.db, scope.projectId, evalId, id),
    ])
    if (of === null) throw noSuchEval()
    if (row === null) throw noSuchRun()
    return await viewNow(use, of, row)
  })

export const listRunsRoute = (use: ReadRunsUses) =>
  route(listEvalRuns, async ({ scope, params: { eval_id: evalId }, query }) => {
    const { after, limit, order, status } = query
    const of = await findEval(use.db, scope.projectId, evalId)
    if (of === null) throw noSuchEval()
    if (after !== undefined && !(await store.isRunCursor(use.db, evalId, after))) {
      throw new Fault('invalid_value', 'No run with the id given in after.', { param: 'after' })
    }
    const page = { after: after ?? null, limit, order, status: status ?? null }
    const { rows, more } = await store.listRuns(use.db, evalId, page)
    const data = await Promise.all(rows.map((row) => viewNow(use, of, row)))
    return cutPage(data, more)
  })
