import { listOutputItems, retrieveOutputItem } from '@switchyard/contracts/evals/output-items.ts'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { cutPage } from '@switchyard/contracts/page.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { outputItemView, rowOfOutputItem } from '../domain/output-item-view.ts'
import { findEval } from '../store/evals.ts'
import { findResult, listResults } from '../store/results.ts'
import { findRun, type RunRow } from '../store/runs.ts'
import type { EvalsTables } from '../store/tables.ts'
import { noSuchEval, noSuchOutputItem, noSuchRun } from './faults.ts'

type Uses = { readonly db: Db<EvalsTables> }

async function runOf(use: Uses, projectId: ProjectId, evalId: string, id: string): Promise<RunRow> {
  if ((await findEval(use.db, projectId, evalId)) === null) throw noSuchEval()
  const run = await findRun(use.db, projectId, evalId, id)
  if (run === null) throw noSuchRun()
  return run
}

export const listOutputItemsRoute = (use: Uses) =>
  route(listOutputItems, async ({ scope, params, query: { after: id, limit, order, status = null } }) => {
    const run = await runOf(use, scope.projectId, params.eval_id, params.run_id)
    const after = id === undefined ? null : rowOfOutputItem(run.id, id)
    if (id !== undefined && (after === null || (await findResult(use.db, run.id, after)) === null)) {
      throw new Fault('invalid_value', 'No output item with the id given in after.', { param: 'after' })
    }
    const { rows, more } = await listResults(use.db, run.id, { after, limit, order, status })
    return cutPage(
      rows.map((row) => outputItemView(run, row)),
      more,
    )
  })

export const retrieveOutputItemRoute = (use: Uses) =>
  route(retrieveOutputItem, async ({ scope, params }) => {
    const run = await runOf(use, scope.projectId, params.eval_id, params.run_id)
    const n = rowOfOutputItem(run.id, params.output_item_id)
    const row = n === null ? null : await findResult(use.db, run.id, n)
    if (row === null) throw noSuchOutputItem()
    return outputItemView(run, row)
  })
