import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { newId } from '#platform/std/ids.ts'
import type { LimitsTables } from './tables.ts'

export interface Decision {
  readonly at: Date
  readonly requestId: string
  readonly orgId: string
  readonly projectId: string
  readonly kind: 'admitted' | 'refused' | 'settled' | 'released'
  readonly detail: Readonly<Record<string, unknown>>
}

export const decisionPrefix = 'dec_'

const insert = statement<[string], never>(
  'limits.insert-decisions',
  `insert into limits.decision (id, at, request_id, org_id, project_id, kind, detail)
   select * from json_to_recordset($1::json) as given (id text, at timestamptz, request_id text, org_id text,
     project_id text, kind text, detail json)`,
)

export async function insertDecisions(db: Db<LimitsTables>, decisions: readonly Decision[]): Promise<void> {
  const rows = decisions.map(({ at, requestId, orgId, projectId, kind, detail }) => ({
    id: newId(decisionPrefix),
    at,
    request_id: requestId,
    org_id: orgId,
    project_id: projectId,
    kind,
    detail,
  }))
  await db.run(insert, [JSON.stringify(rows)])
}

interface DecisionRow {
  at: Date
  project_id: string
  kind: Decision['kind']
  detail: Record<string, unknown>
}

const ofRequest = statement<[string, string, number], DecisionRow>(
  'limits.decisions-of-request',
  `select at, project_id, kind, detail from limits.decision where request_id = $2 and org_id = $1 order by at, id limit $3`,
)

export async function listDecisions(
  db: Db<LimitsTables>,
  orgId: string,
  requestId: string,
  limit: number,
): Promise<DecisionRow[]> {
  return await db.run(ofRequest, [orgId, requestId, limit])
}

interface UsageRow {
  at: Date
  model: string
  outcome: 'completed' | 'interrupted'
  input_tokens: number
  cached_tokens: number
  output_tokens: number
  cost_nanos: number
}

const usageOfRequest = statement<[string, string, number], UsageRow>(
  'limits.usage-of-request',
  `select at, model, outcome, input_tokens, cached_tokens, output_tokens, cost_nanos
   from limits.usage where request_id = $2 and org_id = $1 order by at, id limit $3`,
)

export async function listUsage(
  db: Db<LimitsTables>,
  orgId: string,
  requestId: string,
  limit: number,
): Promise<UsageRow[]> {
  return await db.run(usageOfRequest, [orgId, requestId, limit])
}
