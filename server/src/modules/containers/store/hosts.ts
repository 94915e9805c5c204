import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own } from '#platform/db/tx.ts'
import type { ContainersTables } from './tables.ts'

export interface HostRow {
  readonly id: string
  readonly url: string
  /** It has said so recently. */
  readonly alive: boolean
}

/** A host that has been silent for longer takes no more work. */
export const hostSilentMs = 15_000

const say = statement<[string, string, number, boolean], never>(
  'containers.host-say',
  `insert into containers.host (id, url, memory_bytes, accepting, seen_at)
   values ($1, $2, $3, $4, clock_timestamp())
   on conflict (id) do update set url = excluded.url, memory_bytes = excluded.memory_bytes,
     accepting = excluded.accepting, seen_at = excluded.seen_at`,
)

export interface HostSays {
  readonly id: string
  readonly url: string
  readonly memoryBytes: number
  readonly accepting: boolean
}

export async function sayHost(db: Db<ContainersTables>, says: HostSays): Promise<void> {
  await db.run(say, [says.id, says.url, says.memoryBytes, says.accepting])
}

const find = statement<[string, number], HostRow>(
  'containers.host-find',
  `select id, url, seen_at > clock_timestamp() - $2 * interval '1 millisecond' as alive
   from containers.host where id = $1`,
)

export async function findHost(db: Db<ContainersTables>, id: string): Promise<HostRow | null> {
  const [row] = await db.run(find, [id, hostSilentMs])
  return row ?? null
}

const anyAlive = statement<[number], { id: string }>(
  'containers.host-any',
  `select id from containers.host where accepting and seen_at > clock_timestamp() - $1 * interval '1 millisecond' limit 1`,
)

/** Whether there is a host at all that takes containers now. */
export async function hasLiveHost(db: Db<ContainersTables>): Promise<boolean> {
  return (await db.run(anyAlive, [hostSilentMs])).length > 0
}

interface Room {
  id: string
  url: string
  free: number
}

const room = sql.raw(`select h.id, h.url, h.memory_bytes - coalesce((
    select sum(c.memory_bytes) from containers.container c where c.host_id = h.id and c.cleared_at is null), 0) as free
  from containers.host h
  where h.accepting and h.seen_at > clock_timestamp() - ${hostSilentMs} * interval '1 millisecond'
  order by free desc, h.id for update of h`)

/**
 * Gives a container that has none a host with room: the one with most. Hosts are locked meanwhile, so that two
 * placements never count on the same memory. Null: no host has room.
 */
export async function placeContainer(
  db: Db<ContainersTables>,
  id: string,
  memoryBytes: number,
): Promise<{ id: string; url: string } | null> {
  return await db.tx(async (tx) => {
    const tables = own<ContainersTables>(tx)
    const { rows } = await sql<Room>`${room}`.execute(tables)
    const [roomiest] = rows
    if (roomiest === undefined || roomiest.free < memoryBytes) return null
    const placed = await tables
      .updateTable('containers.container')
      .set({ host_id: roomiest.id })
      .where('id', '=', id)
      .where('host_id', 'is', null)
      .executeTakeFirst()
    if (placed.numUpdatedRows === 1n) return { id: roomiest.id, url: roomiest.url }
    // Someone else was first; the owner is in the row.
    const row = await tables
      .selectFrom('containers.container as c')
      .innerJoin('containers.host as h', 'h.id', 'c.host_id')
      .select(['h.id', 'h.url'])
      .where('c.id', '=', id)
      .executeTakeFirst()
    return row ?? null
  })
}

/** A host with room, without a container: for secrets that have to be somewhere before anything is stored. */
export async function chooseHost(
  db: Db<ContainersTables>,
  memoryBytes: number,
): Promise<{ id: string; url: string } | null> {
  return await db.tx(async (tx) => {
    const { rows } = await sql<Room>`${room}`.execute(own<ContainersTables>(tx))
    const [roomiest] = rows
    return roomiest === undefined || roomiest.free < memoryBytes ? null : { id: roomiest.id, url: roomiest.url }
  })
}

const claimed = statement<[string], { id: string }>(
  'containers.of-host',
  `select id from containers.container where host_id = $1 and status in ('active', 'reserved')`,
)

/** What a host still owes its users after a restart. */
export async function listLiveOfHost(db: Db<ContainersTables>, hostId: string): Promise<Set<string>> {
  return new Set((await db.run(claimed, [hostId])).map(({ id }) => id))
}

const orgsOfHost = statement<[string], { org_id: string }>(
  'containers.orgs-of-host',
  `select distinct org_id from containers.container
   where host_id = $1 and allowed_domains is not null and status in ('active', 'reserved')`,
)

/** Organisations whose list the host's proxy has to know. */
export async function listOrgsOfHost(db: Db<ContainersTables>, hostId: string): Promise<string[]> {
  return (await db.run(orgsOfHost, [hostId])).map(({ org_id }) => org_id)
}
