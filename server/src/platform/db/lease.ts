import { own } from './tx.ts'
import type { Db } from './db.ts'
import { statement } from './statement.ts'
import type { PlatformTables } from './tables.ts'

/**
 * A named lease over PostgreSQL: at most one holder at a time, judged by PostgreSQL's clock.
 * Every holding has a number; a write that says `where attempt = mine` is fenced by it.
 */
export interface Lease {
  readonly name: string
  readonly holder: string
  readonly attempt: number
}

const take = statement<[string, string, number], { attempt: number }>(
  'platform.lease-take',
  `insert into platform.lease as held (name, holder, attempt, until)
   values ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
   on conflict (name) do update
     set holder = excluded.holder, until = excluded.until,
         attempt = held.attempt + case when held.holder = excluded.holder and held.until >= clock_timestamp() then 0 else 1 end
     where held.until < clock_timestamp() or held.holder = excluded.holder
   returning attempt`,
)

/** Takes or renews the lease; null while someone else holds it. */
export async function takeLease(
  db: Db<PlatformTables>,
  name: string,
  holder: string,
  forMs: number,
): Promise<Lease | null> {
  const [row] = await db.run(take, [name, holder, forMs])
  return row === undefined ? null : { name, holder, attempt: row.attempt }
}

/** Gives the lease back so that another holder need not wait for it to pass. */
export async function releaseLease(db: Db<PlatformTables>, lease: Lease): Promise<void> {
  await db.tx(async (tx) => {
    await own<PlatformTables>(tx)
      .deleteFrom('platform.lease')
      .where('name', '=', lease.name)
      .where('holder', '=', lease.holder)
      .where('attempt', '=', lease.attempt)
      .execute()
  })
}
