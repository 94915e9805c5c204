import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { runPlannedNow } from './planned-now.ts'
import type { Ending, WebhooksTables } from './tables.ts'

/** What became of one attempt. */
export interface Outcome {
  readonly endpointId: string
  readonly eventId: string
  /** Of the due row when the attempt began; another number there now means someone else was faster. */
  readonly attemptsBefore: number
  readonly number: number
  readonly at: Date
  readonly durationMs: number
  readonly url: string
  readonly statusCode: number | null
  readonly outcome: string
  readonly responseStart: string | null
  readonly nextAt: Date | null
  readonly ended: Ending | null
  readonly round: number
  readonly firstAt: Date
}

/** One JSON text instead of an array a column: the driver spells arrays out value by value, which cost more than sending. */
const write = `with given as materialized (
     select * from json_to_recordset($1::json) as o ("eventId" text, "endpointId" text, "attemptsBefore" int, number int,
       at timestamptz, "durationMs" int, url text, "statusCode" int, outcome text, "responseStart" text,
       "nextAt" timestamptz, ended text, round int, "firstAt" timestamptz)
   ), gone as (
     delete from webhooks.due d using given g
     where g.ended is not null and d.endpoint_id = g."endpointId" and d.event_id = g."eventId"
       and d.attempts = g."attemptsBefore"
   ), moved as (
     update webhooks.due d set due_at = g."nextAt", attempts = g.number, round = g.round, first_at = g."firstAt", lane = 1
     from given g
     where g.ended is null and d.endpoint_id = g."endpointId" and d.event_id = g."eventId"
       and d.attempts = g."attemptsBefore"
   )
   insert into webhooks.attempt
     (event_id, endpoint_id, number, at, duration_ms, url, status_code, outcome, response_start, next_at, ended)
   select "eventId", "endpointId", number, at, "durationMs", url, "statusCode", outcome, "responseStart", "nextAt", ended
   from given on conflict (event_id, endpoint_id, number) do nothing`

/** Writes a batch of outcomes in one go: ended deliveries leave the due table, the others get their next time. */
export async function writeOutcomes(db: Db<WebhooksTables>, outcomes: readonly Outcome[]): Promise<void> {
  await runPlannedNow(db, write, [JSON.stringify(outcomes)])
}

/** An endpoint that answers well again, or failed for the first time: told once per change, not per delivery. */
export async function noteHealth(tx: Tx, endpointId: string, failing: boolean): Promise<Date | null> {
  const row = await own<WebhooksTables>(tx)
    .updateTable('webhooks.endpoint')
    .set({ failing_since: failing ? sql<Date>`coalesce(failing_since, clock_timestamp())` : null })
    .where('id', '=', endpointId)
    .returning('failing_since')
    .executeTakeFirst()
  return row?.failing_since ?? null
}

/** Disables an endpoint that has failed without a break for so long. Returns whether this call was the one. */
export async function disableFailing(tx: Tx, endpointId: string, afterMs: number, reason: string): Promise<boolean> {
  const disabled = await own<WebhooksTables>(tx)
    .updateTable('webhooks.endpoint')
    .set({ status: 'disabled', disabled_reason: reason, updated_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', endpointId)
    .where('status', '=', 'active')
    .where('deleted_at', 'is', null)
    .where('failing_since', '<=', sql<Date>`clock_timestamp() - ${afterMs} * interval '1 millisecond'`)
    .executeTakeFirst()
  return disabled.numUpdatedRows === 1n
}

/** Whose endpoint it is. */
export async function projectOfEndpoint(tx: Tx, endpointId: string): Promise<string> {
  const row = await own<WebhooksTables>(tx)
    .selectFrom('webhooks.endpoint')
    .select('project_id')
    .where('id', '=', endpointId)
    .executeTakeFirstOrThrow()
  return row.project_id
}
