import type { Db } from './db.ts'
import { statement } from './statement.ts'
import type { PlatformTables } from './tables.ts'

/**
 * A named lease over PostgreSQL: at most one holder at a time, judged by PostgreSQL's clock.
 * Every holding has a number that never comes back; a write that says `where attempt = mine` is fenced by it.
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

const renew = statement<[string, string, number, number], { attempt: number }>(
  'platform.lease-renew',
  `update platform.lease set until = clock_timestamp() + $4 * interval '1 millisecond'
   where name = $1 and holder = $2 and attempt = $3 and until > '-infinity'
   returning attempt`,
)

// The row stays: were it deleted, its numbers would start again at 1 and no longer fence a holder that was frozen.
const release = statement<[string, string, number], never>(
  'platform.lease-release',
  `update platform.lease set until = '-infinity' where name = $1 and holder = $2 and attempt = $3`,
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

/** Prolongs this very holding. False once somebody else has held the lease since, however briefly. */
export async function renewLease(db: Db<PlatformTables>, lease: Lease, forMs: number): Promise<boolean> {
  const [row] = await db.run(renew, [lease.name, lease.holder, lease.attempt, forMs])
  return row !== undefined
}

/** Gives the lease back so that another holder need not wait for it to pass. */
export async function releaseLease(db: Db<PlatformTables>, lease: Lease): Promise<void> {
  await db.run(release, [lease.name, lease.holder, lease.attempt])
}
