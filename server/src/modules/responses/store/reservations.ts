import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { Metering } from '../domain/metering.ts'
import type { ResponsesTables } from './tables.ts'

/** The columns that say whom a response is charged to. */
export interface MeteringColumns {
  readonly project_id: string
  readonly org_id: string | null
  readonly key_id: string | null
  readonly request_id: string | null
  readonly limited: boolean
  readonly batch: boolean
}

export function meteringOf(row: MeteringColumns): Metering | null {
  const { org_id: orgId, project_id: projectId, key_id: keyId, request_id: requestId, limited, batch } = row
  if (orgId === null || keyId === null || requestId === null) return null
  return { orgId, projectId, keyId, requestId, limited, batch }
}

const inFlight = statement<[string[]], { request_id: string }>(
  'responses.requests-in-flight',
  `select request_id from responses.running where request_id = any($1::text[])`,
)

/** Which of these requests made a response that has not ended. */
export async function findInFlight(
  db: Db<ResponsesTables>,
  requestIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.run(inFlight, [[...requestIds]])
  return new Set(rows.map((row) => row.request_id))
}

export interface OpenRow {
  request_id: string
  step: number
  project_id: string
  key_id: string
  model: string
  output_max: number | null
  background: boolean
}

const open = statement<[string, number], OpenRow>(
  'responses.open-reservations',
  `select u.request_id, u.step, u.project_id, u.key_id, u.background, r.asked ->> 'model' as model,
     (r.asked ->> 'maxOutputTokens')::int as output_max
   from responses.running u join responses.response r on r.id = u.id
   where u.org_id = $1 and u.limited limit $2`,
)

/** Responses of an organisation that have something reserved. */
export async function listOpen(db: Db<ResponsesTables>, orgId: string, limit: number): Promise<OpenRow[]> {
  return await db.run(open, [orgId, limit])
}
