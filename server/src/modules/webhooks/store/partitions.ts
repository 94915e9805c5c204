import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { WebhooksTables } from './tables.ts'

export interface Day {
  /** `20261115`. */
  readonly name: string
  readonly fromId: string
  readonly toId: string
}

const tables = ['event', 'attempt'] as const

/** Rows of the day lie in the partition for everything else already: a clock ran ahead, or no worker ran for long. */
const rowsAreElsewhere = (error: unknown) => (error as { code?: unknown }).code === '23514'

/** Makes the partitions of a day unless they are there. A day whose rows came before its partition goes without. */
export async function ensureDay(db: Db<WebhooksTables>, day: Day): Promise<void> {
  for (const table of tables) {
    const { rows } = await sql<{
      there: string | null
    }>`select to_regclass(${`webhooks.${table}_${day.name}`}) as there`.execute(db.kysely)
    if (rows[0]?.there !== null) continue
    try {
      await sql`create table if not exists ${sql.table(`webhooks.${table}_${day.name}`)} partition of ${sql.table(`webhooks.${table}`)}
        for values from (${sql.lit(day.fromId)}) to (${sql.lit(day.toId)})`.execute(db.kysely)
    } catch (error) {
      if (!rowsAreElsewhere(error)) throw error
    }
  }
}

/** Names of the days that have partitions, oldest first. */
export async function listDays(db: Db<WebhooksTables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select right(c.relname, 8) as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'webhooks.event'::regclass and c.relname ~ '_[0-9]{8}$' order by 1`.execute(db.kysely)
  return rows.map((row) => row.name)
}

/** Drops a whole day of events and attempts. */
export async function dropDay(db: Db<WebhooksTables>, name: string): Promise<void> {
  for (const table of tables)
    await sql`drop table if exists ${sql.table(`webhooks.${table}_${name}`)}`.execute(db.kysely)
}

/**
 * What dropping a day leaves behind: rows older than the id that lie in no day's partition, and deliveries made due again
 * whose event is gone. Returns how many.
 */
export async function deleteOlder(db: Db<WebhooksTables>, firstId: string): Promise<number> {
  let deleted = 0n
  for (const [table, column] of [
    ['event_other', 'id'],
    ['attempt_other', 'event_id'],
    ['due', 'event_id'],
  ] as const) {
    const result =
      await sql`delete from ${sql.table(`webhooks.${table}`)} where ${sql.ref(column)} < ${firstId}`.execute(db.kysely)
    deleted += result.numAffectedRows ?? 0n
  }
  return Number(deleted)
}
