import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement } from '../db/statement.ts'
import type { PlatformTables } from '../db/tables.ts'
import { own } from '../db/tx.ts'
import type { Tx } from '../db/tx.ts'
import type { Submission } from './ingress.ts'

/** What is written into the outbox. */
export interface NewSubmission {
  readonly key: string
  /** Ids, not payloads: what the engine stores is not ours to read again. */
  readonly input: unknown
  /** Absolute, by PostgreSQL's clock. */
  readonly at?: Date
}

interface OutboxRow {
  id: string
  handler: string
  key: string
  input: unknown
  delay_ms: number
}

const countedMax = 10_000
const delayMs = `greatest(0, extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as delay_ms`

/** Rows whose lease has passed: left by a crash, or refused when they were sent before. */
const take = statement<[limit: number, leaseMs: number], OutboxRow & { tries: number }>(
  'platform.outbox-take',
  `update platform.outbox set lease_until = clock_timestamp() + $2 * interval '1 millisecond', tries = tries + 1
   where id in (
     select id from platform.outbox where lease_until <= clock_timestamp()
     order by lease_until limit $1 for update skip locked)
   returning id, handler, key, input, tries, ${delayMs}`,
)

const postpone = statement<[ids: string[], waitsMs: number[]], never>(
  'platform.outbox-postpone',
  `update platform.outbox as waiting set lease_until = clock_timestamp() + later.wait_ms * interval '1 millisecond'
   from unnest($1::uuid[], $2::float8[]) as later (id, wait_ms) where waiting.id = later.id`,
)

const remove = statement<[ids: string[]], never>(
  'platform.outbox-remove',
  `delete from platform.outbox where id = any($1::uuid[])`,
)

const count = statement<[limit: number], { rows: number }>(
  'platform.outbox-count',
  `select count(*) as rows from (select 1 from platform.outbox limit $1) as counted`,
)

const waiting = statement<[limit: number], { rows: number }>(
  'platform.outbox-waiting',
  `select count(*) as rows from (
     select 1 from platform.outbox where lease_until <= clock_timestamp() or tries > 0 limit $1) as waiting`,
)

/** Writes the rows in the transaction that decides on the work, so that neither exists without the other. */
export async function insertOutbox(tx: Tx, handler: string, rows: readonly NewSubmission[]): Promise<Submission[]> {
  const keys = rows.map(({ key }) => key)
  const inputs = rows.map(({ input }) => JSON.stringify(input))
  const times = rows.map(({ at }) => at ?? null)
  const { rows: inserted } = await sql<OutboxRow>`
    insert into platform.outbox (handler, key, input, due_at)
    select ${handler}, key, input::jsonb, coalesce(due_at, clock_timestamp())
    from unnest(${keys}::text[], ${inputs}::text[], ${times}::timestamptz[]) as added (key, input, due_at)
    returning id, handler, key, input, ${sql.raw(delayMs)}`.execute(own<PlatformTables>(tx))
  return inserted.map(asSubmission)
}

export type TakenSubmission = Submission & { readonly tries: number }

/** Takes rows for a while. Another relay sees them again only once the lease has passed. */
export async function takeOutbox(db: Db<PlatformTables>, limit: number, leaseMs: number): Promise<TakenSubmission[]> {
  const rows = await db.run(take, [limit, leaseMs])
  return rows.map((row) => ({ ...asSubmission(row), tries: row.tries }))
}

export async function postponeOutbox(
  db: Db<PlatformTables>,
  later: readonly { id: string; waitMs: number }[],
): Promise<void> {
  await db.run(postpone, [later.map(({ id }) => id), later.map(({ waitMs }) => waitMs)])
}

export async function removeFromOutbox(db: Db<PlatformTables>, ids: string[]): Promise<void> {
  await db.run(remove, [ids])
}

/** How many rows wait; counting stops at 10,000. */
export async function countOutbox(db: Db<PlatformTables>): Promise<number> {
  const [row] = await db.run(count, [countedMax])
  return row?.rows ?? 0
}

/** How many rows their committer could not send; counting stops at 10,000. */
export async function countWaiting(db: Db<PlatformTables>): Promise<number> {
  const [row] = await db.run(waiting, [countedMax])
  return row?.rows ?? 0
}

function asSubmission({ id, handler, key, input, delay_ms }: OutboxRow): Submission {
  return { id, handler, key, input, delayMs: delay_ms, readAtMs: performance.now() }
}
