import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { runPlannedNow } from './planned-now.ts'
import type { WebhooksTables } from './tables.ts'

export interface Lane {
  endpoint_id: string
  lane: number
}

/**
 * Lanes with something due, found by hopping from one (endpoint, lane) to the next in the index: the cost is the number of
 * lanes, not of rows. Free ones are taken; those that another process holds, and endpoints that are not active, are passed over.
 */
const takeDue = `with recursive hop as (
     (select endpoint_id, lane, due_at from webhooks.due order by endpoint_id, lane, due_at limit 1)
     union all
     select n.endpoint_id, n.lane, n.due_at from hop h, lateral (
       select endpoint_id, lane, due_at from webhooks.due d where (d.endpoint_id, d.lane) > (h.endpoint_id, h.lane)
       order by endpoint_id, lane, due_at limit 1) n
   ), ready as (
     select h.endpoint_id, h.lane, l.holder, l.until from hop h
     join webhooks.endpoint p on p.id = h.endpoint_id and p.status = 'active' and p.deleted_at is null
     left join webhooks.lease l on l.endpoint_id = h.endpoint_id and l.lane = h.lane
     where h.due_at <= clock_timestamp()
     order by h.lane, h.due_at
   ), taken as (
     insert into webhooks.lease as held (endpoint_id, lane, holder, until)
     select endpoint_id, lane, $1, clock_timestamp() + $2 * interval '1 millisecond' from ready
     where holder is null or until < clock_timestamp() limit $3
     on conflict (endpoint_id, lane) do update set holder = excluded.holder, until = excluded.until
       where held.until < clock_timestamp()
     returning endpoint_id, lane
   )
   select endpoint_id, lane from taken
   union all
   select endpoint_id, lane from ready where holder = $1 and until >= clock_timestamp()`

/** Takes free lanes that have something due; returns them together with those already held that do. */
export async function takeDueLanes(
  db: Db<WebhooksTables>,
  holder: string,
  leaseMs: number,
  limit: number,
): Promise<Lane[]> {
  return await runPlannedNow(db, takeDue, [holder, leaseMs, limit])
}

const renew = statement<[string, number], Lane>(
  'webhooks.renew-lanes',
  `update webhooks.lease set until = clock_timestamp() + $2 * interval '1 millisecond'
   where holder = $1 and until >= clock_timestamp() returning endpoint_id, lane`,
)

/** Renews all that this process holds; what is missing in the answer was lost. */
export async function renewLanes(db: Db<WebhooksTables>, holder: string, leaseMs: number): Promise<Lane[]> {
  return await db.run(renew, [holder, leaseMs])
}

const release = statement<[string, string[], number[]], Lane>(
  'webhooks.release-lanes',
  `delete from webhooks.lease l using unnest($2::text[], $3::smallint[]) as u (endpoint_id, lane)
   where l.holder = $1 and l.endpoint_id = u.endpoint_id and l.lane = u.lane returning l.endpoint_id, l.lane`,
)

export async function releaseLanes(db: Db<WebhooksTables>, holder: string, lanes: readonly Lane[]): Promise<void> {
  if (lanes.length === 0) return
  await db.run(release, [holder, lanes.map((lane) => lane.endpoint_id), lanes.map((lane) => lane.lane)])
}

export interface DueRow {
  event_id: string
  due_at: string
  attempts: number
  round: number
  first_at: Date | null
  created_at: Date
  body: string
}

/** Where a read of a lane goes on: after this row, in the order of due_next. */
export interface DueCursor {
  readonly due_at: string
  readonly event_id: string
}

const dueColumns = 'd.event_id, d.due_at::text as due_at, d.attempts, d.round, d.first_at, d.created_at, e.body'

const dueAfter = `select ${dueColumns}
   from webhooks.due d join webhooks.event e on e.id = d.event_id
   where d.endpoint_id = $1 and d.lane = $2 and d.due_at <= clock_timestamp()
     and (d.due_at, d.event_id) > ($4::timestamptz, $5)
   order by d.due_at, d.event_id limit $3`

/** The next due deliveries of a lane, after the one given: those before it are in hand or done. */
export async function listDueAfter(
  db: Db<WebhooksTables>,
  lane: Lane,
  limit: number,
  after: DueCursor,
): Promise<DueRow[]> {
  return await runPlannedNow(db, dueAfter, [lane.endpoint_id, lane.lane, limit, after.due_at, after.event_id])
}

export type LaneDueRow = DueRow & Lane

const dueFirst = `select l.endpoint_id, l.lane, f.* from unnest($1::text[], $2::smallint[]) as l (endpoint_id, lane), lateral (
     select ${dueColumns}
     from webhooks.due d join webhooks.event e on e.id = d.event_id
     where d.endpoint_id = l.endpoint_id and d.lane = l.lane and d.due_at <= clock_timestamp()
     order by d.due_at, d.event_id limit $3) f`

/** The first due deliveries of each lane, of all lanes in one question: asking one by one cost more than sending. */
export async function listDueFirst(
  db: Db<WebhooksTables>,
  lanes: readonly Lane[],
  limit: number,
): Promise<LaneDueRow[]> {
  return await runPlannedNow(db, dueFirst, [
    lanes.map((lane) => lane.endpoint_id),
    lanes.map((lane) => lane.lane),
    limit,
  ])
}

export interface TargetRow {
  id: string
  project_id: string
  url: string
  status: string
  failing_since: Date | null
  /** Sealed secrets that sign now, with their ids. */
  secrets: { id: string; sealed: string }[]
}

/** For a query over `webhooks.endpoint p`. */
export const targetColumns = `p.id, p.project_id, p.url, p.status, p.failing_since,
     (select coalesce(json_agg(json_build_object('id', s.id, 'sealed', s.sealed) order by s.active_until is null desc, s.created_at desc), '[]')
      from webhooks.secret s where s.endpoint_id = p.id and (s.active_until is null or s.active_until > clock_timestamp())) as secrets`

const targets = statement<[string[]], TargetRow>(
  'webhooks.targets',
  `select ${targetColumns} from webhooks.endpoint p where p.id = any($1::text[]) and p.deleted_at is null`,
)

/** Where and how to send now; those that are gone are missing. */
export async function findTargets(db: Db<WebhooksTables>, endpointIds: readonly string[]): Promise<TargetRow[]> {
  return await db.run(targets, [[...endpointIds]])
}

export async function findTarget(db: Db<WebhooksTables>, endpointId: string): Promise<TargetRow | null> {
  const [row] = await findTargets(db, [endpointId])
  return row ?? null
}
