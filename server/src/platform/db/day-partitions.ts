import { sql } from 'kysely'
import { firstIdAt } from '../std/ids.ts'
import { assert } from '../std/assert.ts'
import type { Db } from './db.ts'

/** Tables that are partitioned by an id, one partition a day: ids sort by time. Each has a partition `<name>_other` as well. */
export interface DayTables {
  readonly schema: string
  /** Of the ids that the tables are partitioned by. */
  readonly idPrefix: string
  /** Name of each table, and its column with the id. */
  readonly tables: readonly { readonly name: string; readonly column: string }[]
}

interface Day {
  /** `20261115`. */
  readonly name: string
  readonly fromId: string
  readonly toId: string
}

const dayMs = 86_400_000
const daysAhead = 7

/** Rows of the day lie in the partition for everything else already: a clock ran ahead, or no worker ran for long. */
const rowsAreElsewhere = (error: unknown) => (error as { code?: unknown }).code === '23514'

function dayOf(idPrefix: string, at: number): Day {
  const from = Math.floor(at / dayMs) * dayMs
  return {
    name: new Date(from).toISOString().slice(0, 10).replaceAll('-', ''),
    fromId: firstIdAt(idPrefix, from),
    toId: firstIdAt(idPrefix, from + dayMs),
  }
}

/** The first id that is still kept. */
export function oldestKeptId({ idPrefix }: DayTables, now: Date, retentionDays: number): string {
  return dayOf(idPrefix, now.getTime() - retentionDays * dayMs).fromId
}

/** Makes the partitions of the days ahead, drops those past retention. Returns how many days were dropped. */
export async function keepDays(db: Db<unknown>, of: DayTables, now: Date, retentionDays: number): Promise<number> {
  for (let ahead = 1; ahead <= daysAhead; ahead += 1) await ensureDay(db, of, now.getTime() + ahead * dayMs)
  const oldest = dayOf(of.idPrefix, now.getTime() - retentionDays * dayMs)
  const past = (await listDays(db, of)).filter((name) => name < oldest.name)
  for (const day of past) {
    for (const { name } of of.tables) await sql`drop table if exists ${table(of, `${name}_${day}`)}`.execute(db.kysely)
  }
  // What came before its partition was made.
  for (const { name, column } of of.tables) {
    await sql`delete from ${table(of, `${name}_other`)} where ${sql.ref(column)} < ${oldest.fromId}`.execute(db.kysely)
  }
  return past.length
}

const table = ({ schema }: DayTables, name: string) => sql.table(`${schema}.${name}`)

/** A day whose rows came before its partition goes without. */
async function ensureDay(db: Db<unknown>, of: DayTables, at: number): Promise<void> {
  const day = dayOf(of.idPrefix, at)
  for (const { name } of of.tables) {
    const { rows } = await sql<{ there: string | null }>`
      select to_regclass(${`${of.schema}.${name}_${day.name}`}) as there`.execute(db.kysely)
    if (rows[0]?.there !== null) continue
    try {
      await sql`create table if not exists ${table(of, `${name}_${day.name}`)} partition of ${table(of, name)}
        for values from (${sql.lit(day.fromId)}) to (${sql.lit(day.toId)})`.execute(db.kysely)
    } catch (error) {
      if (!rowsAreElsewhere(error)) throw error
    }
  }
}

/** Names of the days that have partitions, oldest first. */
export async function listDays(db: Db<unknown>, of: DayTables): Promise<string[]> {
  const [first] = of.tables
  assert(first !== undefined, 'there is a table to keep')
  const { rows } = await sql<{ name: string }>`
    select right(c.relname, 8) as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${`${of.schema}.${first.name}`}::regclass and c.relname ~ '_[0-9]{8}$' order by 1`.execute(
    db.kysely,
  )
  return rows.map((row) => row.name)
}
