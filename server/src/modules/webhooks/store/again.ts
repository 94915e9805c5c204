import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { WebhooksTables } from './tables.ts'

/**
 * Makes one event due again for an endpoint, with a new 72 hours. One that is due anyway is merely brought forward.
 * Attempts go on counting, so the log stays one log.
 */
export async function makeDueAgain(tx: Tx, delivery: { eventId: string; endpointId: string }): Promise<void> {
  await sql`
    insert into webhooks.due as d (endpoint_id, event_id, lane, due_at, attempts)
    values (${delivery.endpointId}, ${delivery.eventId}, 1, clock_timestamp(), coalesce(
      (select max(number) from webhooks.attempt where event_id = ${delivery.eventId} and endpoint_id = ${delivery.endpointId}), 0))
    on conflict (endpoint_id, event_id) do update set due_at = least(d.due_at, excluded.due_at)`.execute(
    own<WebhooksTables>(tx),
  )
}

export interface ReplaySpan {
  readonly projectId: string
  readonly endpointId: string
  /** First and last-but-one id of the span: ids sort by time. */
  readonly fromId: string
  readonly toId: string
  readonly types: readonly string[]
  readonly onlyFailed: boolean
}

const chosen = (span: ReplaySpan) => sql`
  from webhooks.event e
  where e.project_id = ${span.projectId} and e.id >= ${span.fromId} and e.id < ${span.toId}
    and e.type = any(${[...span.types]}::text[])
    and not exists (select 1 from webhooks.due d where d.endpoint_id = ${span.endpointId} and d.event_id = e.id)
    and (not ${span.onlyFailed}::boolean or 'failed' = (select a.ended from webhooks.attempt a
      where a.event_id = e.id and a.endpoint_id = ${span.endpointId} order by number desc limit 1))`

/** How many events a replay would send, counted up to the limit. */
export async function countReplay(db: Db<WebhooksTables>, span: ReplaySpan, limit: number): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`select count(*) as count from (select 1 ${chosen(span)} limit ${limit}) x`.execute(db.kysely)
  return rows[0]?.count ?? 0
}

/** Makes the events of a span due again. Returns how many. */
export async function replay(tx: Tx, span: ReplaySpan): Promise<number> {
  const result = await sql`
    insert into webhooks.due (endpoint_id, event_id, lane, due_at, attempts)
    select ${span.endpointId}, e.id, 1, clock_timestamp(), coalesce(
      (select max(number) from webhooks.attempt a where a.event_id = e.id and a.endpoint_id = ${span.endpointId}), 0)
    ${chosen(span)}
    on conflict (endpoint_id, event_id) do nothing`.execute(own<WebhooksTables>(tx))
  return Number(result.numAffectedRows ?? 0n)
}
