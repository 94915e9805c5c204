import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { OrgsTables } from '../store/tables.ts'

const waitStepMs = 10
const waitsMax = 500

/** Waits until this many sessions of the database stand at a lock, so that a race happens in the order it is told. */
export async function untilWaiting(db: Db<OrgsTables>, count: number): Promise<void> {
  for (let wait = 0; wait < waitsMax; wait += 1) {
    const { rows } = await sql<{ waiting: number }>`
      select count(*) as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db.kysely)
    if ((rows[0]?.waiting ?? 0) >= count) return
    await new Promise((resolve) => setTimeout(resolve, waitStepMs))
  }
  throw new Error(`never saw ${count} sessions at a lock`)
}

/** Runs `inside` in a transaction, lets `meanwhile` start and run into its locks, then commits. */
export async function whileHolding<Result>(
  db: Db<OrgsTables>,
  inside: (tx: Tx) => Promise<void>,
  meanwhile: () => Promise<Result>,
): Promise<PromiseSettledResult<Result>> {
  const started = await db.tx(async (tx) => {
    await inside(tx)
    const running = Promise.allSettled([meanwhile()])
    await untilWaiting(db, 1)
    return { running }
  })
  const [settled] = await started.running
  return settled
}
