import { sql } from 'kysely'
import type { Database } from '#platform/db/db.ts'

/** Every row of every table of every module, as text: what must be nowhere is looked for in it. */
export async function databaseText(db: Database): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(db.kysely)
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`select to_jsonb(t)::text as row from ${sql.raw(name)} t`.execute(
      db.kysely,
    )
    texts.push(...rows.map(({ row }) => row))
  }
  return texts.join('\n')
}
