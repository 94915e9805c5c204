import { deleteEval } from '@switchyard/contracts/evals/evals.ts'
import type { Db } from '#platform/db/db.ts'
import { route } from '#platform/http/route.ts'
import { markEvalDeleted } from '../store/evals.ts'
import type { EvalsTables } from '../store/tables.ts'
import { noSuchEval } from './faults.ts'

/** Its runs are not to be seen any more from here on; those under way are ended one by one right after. */
export const deleteEvalRoute = (use: { readonly db: Db<EvalsTables> }) =>
  route(deleteEval, async ({ scope, params }) => {
    const id = params.eval_id
    if (!(await use.db.tx((tx) => markEvalDeleted(tx, scope.projectId, id)))) throw noSuchEval()
    return { object: 'eval.deleted' as const, deleted: true as const, eval_id: id }
  })
