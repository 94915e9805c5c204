import { explainLimits, type LimitsExplanation } from '@switchyard/contracts/organization/limits-explain.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { explanation } from '../../domain/explanation.ts'
import { listDecisions, listUsage } from '../../store/decisions.ts'
import type { LimitsTables } from '../../store/tables.ts'

/** A response of many turns has some for each. */
const rowsMax = 1_000

export const explainLimitsRoute = (use: { readonly db: Db<LimitsTables>; readonly flush: () => Promise<void> }) =>
  route(explainLimits, async ({ scope, query }): Promise<LimitsExplanation> => {
    // What this process has decided a moment ago is found as well.
    await use.flush()
    const [decisions, usage] = await Promise.all([
      listDecisions(use.db, scope.orgId, query.request_id, rowsMax),
      listUsage(use.db, scope.orgId, query.request_id, rowsMax),
    ])
    if (decisions.length === 0 && usage.length === 0) {
      throw new Fault(
        'not_found',
        'Nothing was decided about a request with this id, or it was too long ago. Requests without limits leave no trace here.',
        { param: 'request_id' },
      )
    }
    return explanation(query.request_id, decisions, usage)
  })
