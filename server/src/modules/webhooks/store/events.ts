import { sql } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import type { WebhooksTables } from './tables.ts'

export const urgentLane = 0
export const bulkLane = 1

export interface NewEvent {
  id: string
  projectId: string
  type: string
  createdAt: Date
  body: string
}

export interface InsertedDue {
  endpoint_id: string
  event_id: string
}

/**
 * Writes events and one due row for each endpoint that subscribed, whatever its status: a paused one gets what it missed
 * when it resumes. `leaseMs` keeps others away from the rows while the committing process sends them itself.
 */
export async function insertEvents(
  tx: Tx,
  events: readonly NewEvent[],
  lane: number,
  leaseMs: number,
): Promise<InsertedDue[]> {
  const ids = events.map(({ id }) => id)
  const projects = events.map(({ projectId }) => projectId)
  const types = events.map(({ type }) => type)
  const times = events.map(({ createdAt }) => createdAt)
  const bodies = events.map(({ body }) => body)
  const { rows } = await sql<InsertedDue>`
    with given as (
      select * from unnest(${ids}::text[], ${projects}::text[], ${types}::text[], ${times}::timestamptz[], ${bodies}::text[])
        as e (id, project_id, type, created_at, body)
    ), event as (
      insert into webhooks.event (id, project_id, type, created_at, body) select id, project_id, type, created_at, body from given
    )
    insert into webhooks.due (endpoint_id, event_id, lane, due_at)
    select p.id, g.id, ${lane}, clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    from given g
    join webhooks.endpoint p on p.project_id = g.project_id and p.deleted_at is null and g.type = any(p.event_types)
    returning endpoint_id, event_id`.execute(own<WebhooksTables>(tx))
  return rows
}
