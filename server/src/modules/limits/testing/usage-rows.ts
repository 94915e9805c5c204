import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { newId } from '#platform/std/ids.ts'
import { usagePrefix } from '../store/usage.ts'

/** A row of the ledger as a test writes it: at any time, of anybody. */
export interface UsageRow {
  readonly atMs: number
  readonly orgId: string
  readonly projectId: string
  readonly keyId: string | null
  readonly model: string
  readonly batch: boolean
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly costNanos: number
}

/** A row of somebody, with numbers that matter to no test that does not give its own. */
export const usageRow = (
  of: Pick<UsageRow, 'orgId' | 'projectId' | 'atMs'>,
  more: Partial<UsageRow> = {},
): UsageRow => ({
  ...of,
  keyId: null,
  model: 'm',
  batch: false,
  input: 1,
  cached: 0,
  output: 1,
  costNanos: 1,
  ...more,
})

export async function insertUsageRows(db: Db<unknown>, rows: readonly UsageRow[]): Promise<void> {
  const values = rows.map((row) => ({
    ...row,
    id: newId(usagePrefix, row.atMs),
    requestId: newId('req_'),
    at: new Date(row.atMs).toISOString(),
  }))
  await sql`
    insert into limits.usage (id, at, org_id, project_id, key_id, request_id, turn, operation, model, batch, outcome,
      input_tokens, cached_tokens, output_tokens, cost_nanos)
    select id, at, "orgId", "projectId", "keyId", "requestId", 0, 'responses', model, batch, 'completed',
      input, cached, output, "costNanos"
    from json_to_recordset(${JSON.stringify(values)}::json) as given (id text, at timestamptz, "orgId" text,
      "projectId" text, "keyId" text, "requestId" text, model text, batch boolean, input bigint, cached bigint,
      output bigint, "costNanos" bigint)`.execute(db.kysely)
}
