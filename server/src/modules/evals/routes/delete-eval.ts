import { deleteEval } from '@switchyard/contracts/evals/evals.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { route } from '#platform/http/route.ts'
import { markEvalDeleted } from '../store/evals.ts'
import type { EvalsTables } from '../store/tables.ts'
import { noSuchEval } from './faults.ts'

export const deleteEvalRoute = (use: {
  readonly db: Db<EvalsTables>
  /** Ends the runs of an eval that are under way. */
  readonly cancelRuns: (tx: Tx, evalId: string) => Promise<void>
}) =>
  route(deleteEval, async ({ scope, params }) => {
    const id = params.eval_id
    await use.db.tx(async (tx) => {
      if (!(await markEvalDeleted(tx, scope.projectId, id))) throw noSuchEval()
      await use.cancelRuns(tx, id)
    })
    return { object: 'eval.deleted' as const, deleted: true as const, eval_id: id }
  })
