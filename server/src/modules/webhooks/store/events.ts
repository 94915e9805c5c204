import { sql } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import { targetColumns, type TargetRow } from './lanes.ts'
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

/** A due row of an urgent event with where it goes: nothing needs to be asked between its commit and its first byte. */
export interface InsertedDue {
  endpoint_id: string
  event_id: string
  target: TargetRow
}

/**
 * Writes events and one due row for each endpoint that subscribed, whatever its status: a paused one gets what it missed
 * when it resumes. `leaseMs` keeps others away from the rows while the committing process sends them itself.
 */
const insertion = (events: readonly NewEvent[], lane: number, leaseMs: number) => sql`
    with given as (
      select * from json_to_recordset(${JSON.stringify(events)}::json)
        as e (id text, "projectId" text, type text, "createdAt" timestamptz, body text)
    ), event as (
      insert into webhooks.event (id, project_id, type, created_at, body)
      select id, "projectId", type, "createdAt", body from given
    ), inserted as (
      insert into webhooks.due (endpoint_id, event_id, lane, due_at)
      select p.id, g.id, ${lane}::smallint, clock_timestamp() + ${leaseMs}::int * interval '1 millisecond'
      from given g
      join webhooks.endpoint p on p.project_id = g."projectId" and p.deleted_at is null and g.type = any(p.event_types)
      returning endpoint_id, event_id
    )`

/** Returns whether anybody subscribed. */
export async function insertEvents(tx: Tx, events: readonly NewEvent[]): Promise<boolean> {
  const { rows } = await sql<{ some: boolean }>`${insertion(events, bulkLane, 0)}
    select exists (select 1 from inserted) as some`.execute(own<WebhooksTables>(tx))
  return rows[0]?.some === true
}

export async function insertUrgentEvents(tx: Tx, events: readonly NewEvent[], leaseMs: number): Promise<InsertedDue[]> {
  const { rows } = await sql<TargetRow & { event_id: string }>`${insertion(events, urgentLane, leaseMs)}
    select i.event_id, ${sql.raw(targetColumns)} from inserted i join webhooks.endpoint p on p.id = i.endpoint_id`.execute(
    own<WebhooksTables>(tx),
  )
  return rows.map((row) => ({ endpoint_id: row.id, event_id: row.event_id, target: row }))
}
