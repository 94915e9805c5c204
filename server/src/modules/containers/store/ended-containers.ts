import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { ContainersTables } from './tables.ts'

const due = statement<[number], { id: string }>(
  'containers.due',
  `select id from containers.container where status = 'active' and expires_at < clock_timestamp()
   order by expires_at limit $1`,
)

/** Those whose time has passed, whoever may still be using them. */
export async function listDue(db: Db<ContainersTables>, limit: number): Promise<string[]> {
  return (await db.run(due, [limit])).map(({ id }) => id)
}

const extend = statement<[string[]], never>(
  'containers.extend',
  `update containers.container set last_active_at = clock_timestamp(),
     expires_at = clock_timestamp() + expires_minutes * interval '1 minute'
   where id = any($1) and status = 'active'`,
)

/** A running response counts as activity. */
export async function extendContainers(db: Db<ContainersTables>, ids: readonly string[]): Promise<void> {
  await db.run(extend, [[...ids]])
}

const expire = statement<[string[]], { id: string }>(
  'containers.expire',
  `update containers.container set status = 'expired'
   where id = any($1) and status = 'active' and expires_at < clock_timestamp() returning id`,
)

/** Guarded by the time once more: one that was used a moment ago lives on. Returns how many ended. */
export async function expireContainers(db: Db<ContainersTables>, ids: readonly string[]): Promise<number> {
  return (await db.run(expire, [[...ids]])).length
}

const reserved = statement<[number, number], { id: string; response_id: string | null }>(
  'containers.reserved',
  `select id, response_id from containers.container
   where status = 'reserved' and created_at < clock_timestamp() - $1 * interval '1 millisecond'
   order by created_at limit $2`,
)

export async function listReserved(
  db: Db<ContainersTables>,
  olderThanMs: number,
  limit: number,
): Promise<{ id: string; response_id: string | null }[]> {
  return await db.run(reserved, [olderThanMs, limit])
}

const dropReserved = statement<[string[]], { id: string }>(
  'containers.drop-reserved',
  `update containers.container set status = 'deleted' where id = any($1) and status = 'reserved' returning id`,
)

/** Their response has ended without having needed them. */
export async function dropReservedContainers(db: Db<ContainersTables>, ids: readonly string[]): Promise<number> {
  return (await db.run(dropReserved, [[...ids]])).length
}

const lost = statement<[number, string], { id: string }>(
  'containers.expire-lost',
  `update containers.container c set status = 'expired', status_reason = $2
   from containers.host h
   where h.id = c.host_id and c.status in ('active', 'reserved')
     and h.seen_at < clock_timestamp() - $1 * interval '1 millisecond'
   returning c.id`,
)

/** The host has not been heard of for too long: its containers are over, and say why. */
export async function expireLost(db: Db<ContainersTables>, silentMs: number, reason: string): Promise<number> {
  return (await db.run(lost, [silentMs, reason])).length
}

const lose = statement<[string, string], { id: string }>(
  'containers.lose',
  `update containers.container set status = 'expired', status_reason = $2
   where id = $1 and status in ('active', 'reserved') returning id`,
)

/** Ends one before its time, for a reason that its record shows. */
export async function loseContainer(db: Db<ContainersTables>, id: string, reason: string): Promise<void> {
  await db.run(lose, [id, reason])
}

export interface Uncleared {
  readonly id: string
  readonly inline_blobs: string[]
}

const unplaced = statement<[number], Uncleared>(
  'containers.unplaced-ended',
  `select id, inline_blobs from containers.container
   where status in ('expired', 'deleted') and cleared_at is null and host_id is null limit $1`,
)

/** Ended before a host had anything of them. */
export async function listUnplacedEnded(db: Db<ContainersTables>, limit: number): Promise<Uncleared[]> {
  return await db.run(unplaced, [limit])
}

const ofHost = statement<[string, number], Uncleared>(
  'containers.ended-of-host',
  `select id, inline_blobs from containers.container
   where host_id = $1 and cleared_at is null and status in ('expired', 'deleted') limit $2`,
)

/** What a host still has to delete. */
export async function listEndedOfHost(db: Db<ContainersTables>, hostId: string, limit: number): Promise<Uncleared[]> {
  return await db.run(ofHost, [hostId, limit])
}

const ofLost = statement<[number, number], Uncleared>(
  'containers.ended-of-lost-hosts',
  `select c.id, c.inline_blobs from containers.container c join containers.host h on h.id = c.host_id
   where c.cleared_at is null and c.status in ('expired', 'deleted') and c.inline_blobs <> '{}'
     and h.seen_at < clock_timestamp() - $1 * interval '1 millisecond' limit $2`,
)

/** Ended on a host that does not come to clear them; what is elsewhere has to go all the same. */
export async function listEndedOfLostHosts(
  db: Db<ContainersTables>,
  silentMs: number,
  limit: number,
): Promise<Uncleared[]> {
  return await db.run(ofLost, [silentMs, limit])
}

const withoutBlobs = statement<[string[]], never>(
  'containers.without-blobs',
  `update containers.container set inline_blobs = '{}' where id = any($1)`,
)

/** Their blobs are gone; what their host has of them is for the host, if it ever comes back. */
export async function markWithoutBlobs(db: Db<ContainersTables>, ids: readonly string[]): Promise<void> {
  await db.run(withoutBlobs, [[...ids]])
}

const cleared = statement<[string[]], never>(
  'containers.cleared',
  `update containers.container set cleared_at = clock_timestamp(), inline_blobs = '{}', files = '[]'
   where id = any($1) and cleared_at is null`,
)

/** Its data is gone, everywhere. */
export async function markCleared(db: Db<ContainersTables>, ids: readonly string[]): Promise<void> {
  await db.run(cleared, [[...ids]])
}

const forget = statement<[number, number, number], { id: string }>(
  'containers.forget',
  `delete from containers.container where id in
     (select c.id from containers.container c left join containers.host h on h.id = c.host_id
      where c.cleared_at < clock_timestamp()
          - case c.status when 'deleted' then $2::float8 else $1::float8 end * interval '1 millisecond'
        or c.status in ('expired', 'deleted') and h.seen_at < clock_timestamp() - $1::float8 * interval '1 millisecond'
      limit $3)
   returning id`,
)

const forgetReceipts = statement<[string[]], never>(
  'containers.forget-receipts',
  'delete from containers.egress_receipt where container_id = any($1)',
)

/** Removes the records of what has expired, was deleted, or lost its host, long enough ago. Returns how many. */
export async function forgetContainers(
  db: Db<ContainersTables>,
  keptMs: number,
  deletedKeptMs: number,
  limit: number,
): Promise<number> {
  const ids = (await db.run(forget, [keptMs, deletedKeptMs, limit])).map(({ id }) => id)
  if (ids.length > 0) await db.run(forgetReceipts, [ids])
  return ids.length
}

const blobs = statement<[string[]], { blob: string }>(
  'containers.known-blobs',
  `select blob from containers.container, unnest(inline_blobs) as blob where blob = any($1)`,
)

/** Which of these blobs a container still names. */
export async function listKnownInlineBlobs(db: Db<ContainersTables>, names: readonly string[]): Promise<Set<string>> {
  return new Set((await db.run(blobs, [[...names]])).map(({ blob }) => blob))
}
