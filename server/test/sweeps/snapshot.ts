import { sql } from 'kysely'
import type { TestApp } from '../test-app.ts'

/** Change with every use of a key, and by themselves, whatever the request asks for. */
const restless = ['last_used_at', 'alive_until', 'seen_at', 'opened_at']
/** What the machinery keeps for itself is no object of anybody. */
const machinery = ['platform', 'pg_catalog', 'information_schema']

/** Tells of every limited request, also of one that is refused, and some time later. */
const log = /^limits\.decision/

interface Table {
  readonly name: string
  readonly columns: readonly string[]
}

/** They do not change while an app runs, and PostgreSQL takes long to tell. */
const tablesOf = new WeakMap<TestApp, Promise<Table[]>>()

function tables(app: TestApp): Promise<Table[]> {
  const known = tablesOf.get(app) ?? findTables(app)
  tablesOf.set(app, known)
  return known
}

async function findTables(app: TestApp): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select format('%I.%I', c.table_schema, c.table_name) as name, array_agg(c.column_name::text order by c.ordinal_position) as columns
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where t.table_type = 'BASE TABLE' and c.table_schema <> all (${machinery})
    group by 1 order by 1`.execute(app.db.kysely)
  return rows
}

/**
 * A digest of every table of every module, and the names of all blobs: two snapshots are equal exactly when nothing was
 * changed in between, and where they differ stands what was.
 */
export async function snapshot(app: TestApp): Promise<Record<string, unknown>> {
  // The sum of hashes does not depend on the order of the rows, and so spares sorting them.
  const kept = (await tables(app)).filter(({ name }) => !log.test(name))
  const digests = kept.map(({ name, columns }) => {
    const lasting = columns.filter((column) => !restless.includes(column)).map((column) => sql.ref(column))
    return sql`select ${name} as name, count(*) || ' rows ' || sum(hashtextextended(row(${sql.join(lasting)})::text, 0)) as digest
      from ${sql.raw(name)}`
  })
  const { rows } = await sql<{ name: string; digest: string | null }>`${sql.join(digests, sql` union all `)}`.execute(
    app.db.kysely,
  )
  const blobs: string[] = []
  for (const prefix of ['files', 'skills', 'containers']) {
    for await (const { name } of app.wired.blobs.list(prefix)) blobs.push(name)
  }
  return { ...Object.fromEntries(rows.map(({ name, digest }) => [name, digest])), blobs }
}

/** The ids of everything that belongs to an organisation (`org_id`) or a project (`project_id`). */
export async function idsOf(app: TestApp, column: 'org_id' | 'project_id', owner: string): Promise<string[]> {
  const owned = (await tables(app)).filter(({ columns }) => columns.includes('id') && columns.includes(column))
  const found: string[] = []
  for (const { name } of owned) {
    const { rows } = await sql<{ id: string }>`
      select id from ${sql.raw(name)} where ${sql.raw(column)} = ${owner}`.execute(app.db.kysely)
    found.push(...rows.map(({ id }) => id))
  }
  return found
}

/** What a refused request must have left as it was. An upload that was begun counts as activity of its container. */
export const untouched = (operationId: string, all: Record<string, unknown>) =>
  operationId === 'containers.files.create' ? { ...all, 'containers.container': null } : all
