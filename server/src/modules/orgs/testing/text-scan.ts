import { sql } from 'kysely'
import type { Database } from '#platform/db/db.ts'

/** Every row of every table of ours as text, as a dump would show it. */
export async function everyRow(database: Database): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`.execute(database.kysely)
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string }>`select t::text as text from ${sql.raw(name)} t`.execute(
      database.kysely,
    )
    texts.push(...rows.map(({ text }) => text))
  }
  return texts.join('\n')
}
