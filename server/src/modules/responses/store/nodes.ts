import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { ResponsesTables } from './tables.ts'

const renew = statement<[string, number], { id: string }>(
  'responses.renew-node',
  `insert into responses.node (id, alive_until) values ($1, clock_timestamp() + $2 * interval '1 millisecond')
   on conflict (id) do update set alive_until = excluded.alive_until returning id`,
)

export async function renewNode(db: Db<ResponsesTables>, id: string, aliveMs: number): Promise<void> {
  await db.run(renew, [id, aliveMs])
}

const forget = statement<[string], { id: string }>(
  'responses.forget-node',
  `delete from responses.node where id = $1 returning id`,
)

export async function forgetNode(db: Db<ResponsesTables>, id: string): Promise<void> {
  await db.run(forget, [id])
}

// Nobody could renew while PostgreSQL was away: after its start a lease counts for its whole length once more.
const orphans = statement<[number, number], { id: string; project_id: string }>(
  'responses.orphans',
  `select r.id, r.project_id from responses.running r left join responses.node n on n.id = r.node
   where r.node is not null and (n.id is null
     or greatest(n.alive_until, pg_postmaster_start_time() + $2 * interval '1 millisecond') < clock_timestamp())
   order by r.created_at limit $1`,
)

/** Foreground responses whose process is gone. */
export async function listOrphans(
  db: Db<ResponsesTables>,
  limit: number,
  aliveMs: number,
): Promise<{ id: string; project_id: string }[]> {
  return await db.run(orphans, [limit, aliveMs])
}

const buried = statement<[number], { id: string }>(
  'responses.bury-nodes',
  `delete from responses.node n where alive_until < clock_timestamp() - $1 * interval '1 millisecond'
     and not exists (select 1 from responses.running r where r.node = n.id) returning id`,
)

/** Forgets processes that are long gone and hold nothing. */
export async function buryNodes(db: Db<ResponsesTables>, goneMs: number): Promise<number> {
  return (await db.run(buried, [goneMs])).length
}
