import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { WebhooksTables } from './tables.ts'

const closing = `
   ), gone as (
     delete from webhooks.due d using over o where d.endpoint_id = o.endpoint_id and d.event_id = o.event_id
     returning d.endpoint_id, d.event_id, d.attempts
   ), logged as (
     insert into webhooks.attempt (event_id, endpoint_id, number, at, duration_ms, url, outcome, ended)
     select g.event_id, g.endpoint_id, g.attempts + 1, clock_timestamp(), 0, p.url, $2, $3
     from gone g join webhooks.endpoint p on p.id = g.endpoint_id
     on conflict (event_id, endpoint_id, number) do nothing
   )
   select count(*) as count from gone`

const expire = statement<[number, string, string, number], { count: number }>(
  'webhooks.expire-overdue',
  `with over as (
     select d.endpoint_id, d.event_id from webhooks.due d
     join webhooks.endpoint p on p.id = d.endpoint_id and p.deleted_at is null and p.status <> 'active'
     where coalesce(d.first_at, d.created_at) < clock_timestamp() - $4 * interval '1 millisecond'
     limit $1 for update of d skip locked${closing}`,
)

/**
 * Ends deliveries whose time passed while their endpoint was paused or disabled. Those of an active one end by their last
 * attempt, however late it comes: no worker may have run for days.
 */
export async function expireOverdue(db: Db<WebhooksTables>, afterMs: number, limit: number): Promise<number> {
  const [row] = await db.run(expire, [limit, 'not_sent_in_time', 'failed', afterMs])
  return row?.count ?? 0
}

const discard = statement<[number, string, string], { count: number }>(
  'webhooks.discard-deleted',
  `with over as (
     select d.endpoint_id, d.event_id from webhooks.endpoint p
     join webhooks.due d on d.endpoint_id = p.id
     where p.deleted_at > clock_timestamp() - interval '100 hours' and p.deleted_at < clock_timestamp() - interval '7 seconds'
     limit $1 for update of d skip locked${closing}`,
)

/** Ends what was still to be sent to endpoints that were deleted, once what was in flight then has ended as it did. */
export async function discardDeleted(db: Db<WebhooksTables>, limit: number): Promise<number> {
  const [row] = await db.run(discard, [limit, 'endpoint_deleted', 'discarded'])
  return row?.count ?? 0
}
