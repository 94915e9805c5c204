import { CompiledQuery } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
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
const insertion = (events: string, lane: string, leaseMs: string) => `
    with given as (
      select * from json_to_recordset(${events}::json)
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

const insert = statement<[string], { some: boolean }>(
  'webhooks.insert-events',
  `${insertion('$1', String(bulkLane), '0')} select exists (select 1 from inserted) as some`,
)

/** Returns whether anybody subscribed. */
export async function insertEvents(at: Db<WebhooksTables> | Tx, events: readonly NewEvent[]): Promise<boolean> {
  const given = JSON.stringify(events)
  const rows =
    'kysely' in at
      ? await at.run(insert, [given])
      : (await own<WebhooksTables>(at).executeQuery<{ some: boolean }>(CompiledQuery.raw(insert.text, [given]))).rows
  return rows[0]?.some === true
}

export async function insertUrgentEvents(tx: Tx, events: readonly NewEvent[], leaseMs: number): Promise<InsertedDue[]> {
  const text = `${insertion('$1', String(urgentLane), '$2')}
    select i.event_id, ${targetColumns} from inserted i join webhooks.endpoint p on p.id = i.endpoint_id`
  const { rows } = await own<WebhooksTables>(tx).executeQuery<TargetRow & { event_id: string }>(
    CompiledQuery.raw(text, [JSON.stringify(events), leaseMs]),
  )
  return rows.map((row) => ({ endpoint_id: row.id, event_id: row.event_id, target: row }))
}
