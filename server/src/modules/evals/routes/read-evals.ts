import { listEvals, retrieveEval } from '@switchyard/contracts/evals/evals.ts'
import { cutPage } from '@switchyard/contracts/page.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { evalView } from '../domain/eval-view.ts'
import * as store from '../store/evals.ts'
import type { EvalsTables } from '../store/tables.ts'
import { noSuchEval } from './faults.ts'

type Uses = { readonly db: Db<EvalsTables> }

export const retrieveEvalRoute = (use: Uses) =>
  route(retrieveEval, async ({ scope, params }) => {
    const row = await store.findEval(use.db, scope.projectId, params.eval_id)
    if (row === null) throw noSuchEval()
    return evalView(row)
  })

export const listEvalsRoute = (use: Uses) =>
  route(listEvals, async ({ scope, query: { after, limit, order, order_by: orderBy } }) => {
    if (after !== undefined && !(await store.isEvalCursor(use.db, scope.projectId, after))) {
      throw new Fault('invalid_value', 'No eval with the id given in after.', { param: 'after' })
    }
    const page = { after: after ?? null, limit, order, orderBy }
    const { rows, more } = await store.listEvals(use.db, scope.projectId, page)
    return cutPage(rows.map(evalView), more)
  })
