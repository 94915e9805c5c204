import { updateEval } from '@switchyard/contracts/evals/evals.ts'
import type { Db } from '#platform/db/db.ts'
import { route } from '#platform/http/route.ts'
import { evalView } from '../domain/eval-view.ts'
import * as store from '../store/evals.ts'
import type { EvalsTables } from '../store/tables.ts'
import { noSuchEval } from './faults.ts'

export const updateEvalRoute = (use: { readonly db: Db<EvalsTables> }) =>
  route(updateEval, async ({ scope, params, body: { name, metadata } }) => {
    const row = await store.updateEval(use.db, scope.projectId, params.eval_id, {
      ...(name === undefined ? {} : { name }),
      ...(metadata === undefined ? {} : { metadata: metadata ?? {} }),
    })
    if (row === null) throw noSuchEval()
    return evalView(row)
  })
