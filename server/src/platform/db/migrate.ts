import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'

export interface Migration {
  readonly name: string
  readonly sql: string
  readonly sha256: string
  /** `-- migrate: alone` on the first line: runs outside a transaction (indexes built concurrently). */
  readonly alone: boolean
}

export interface MigrateOptions {
  readonly url: string
  readonly folder: string
  readonly onApplied?: (name: string, ms: number) => void
}

/** Any fixed number; two migrators of one database meet on it. */
const advisoryLock = 7_215_001
const lockTimeoutMs = 5_000
const triesMax = 24

export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
  return await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name), 'utf8')
      return {
        name: name.replace(/\.sql$/, ''),
        sql,
        sha256: createHash('sha256').update(sql).digest('hex'),
        alone: sql.startsWith('-- migrate: alone'),
      }
    }),
  )
}

/** Applies what is missing, forward only, one process at a time. Returns the names applied. */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const client = new pg.Client({ connectionString: options.url })
  await client.connect()
  try {
    await client.query(`set lock_timeout = ${lockTimeoutMs}`)
    await lockMigrations(client)
    return await applyMissing(client, options)
  } finally {
    await client.end()
  }
}

async function lockMigrations(client: pg.Client): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query('select pg_advisory_lock($1)', [advisoryLock])
      return
    } catch (error) {
      if (attempt >= triesMax) throw new Error('another migration holds the lock', { cause: error })
    }
  }
}

async function applyMissing(client: pg.Client, options: MigrateOptions): Promise<string[]> {
  await client.query(`create schema if not exists platform`)
  await client.query(`create table if not exists platform.migration (
    name text primary key, sha256 text not null, applied_at timestamptz not null default clock_timestamp())`)
  const { rows } = await client.query<{ name: string; sha256: string }>('select name, sha256 from platform.migration')
  const applied = new Map(rows.map((row) => [row.name, row.sha256]))
  const names: string[] = []
  for (const migration of await readMigrations(options.folder)) {
    const before = applied.get(migration.name)
    if (before === migration.sha256) continue
    if (before !== undefined) throw new Error(`migration ${migration.name} was edited after it was applied`)
    const startedAt = performance.now()
    await applyOne(client, migration)
    names.push(migration.name)
    options.onApplied?.(migration.name, performance.now() - startedAt)
  }
  return names
}

async function applyOne(client: pg.Client, migration: Migration): Promise<void> {
  const record = {
    text: 'insert into platform.migration (name, sha256) values ($1, $2)',
    values: [migration.name, migration.sha256],
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (!migration.alone) await client.query('begin')
      await client.query(migration.sql)
      await client.query(record)
      if (!migration.alone) await client.query('commit')
      return
    } catch (error) {
      if (!migration.alone) await client.query('rollback')
      const waited = (error as { code?: string }).code === '55P03'
      if (!waited || attempt >= triesMax) throw new Error(`migration ${migration.name} failed`, { cause: error })
    }
  }
}

/**
 * What `serve` asks before it starts. An older schema is refused. A newer one is accepted: migrations are
 * additive for one release, so the previous release keeps running while the next is rolled out.
 */
export async function missingMigrations(url: string, folder: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: found } = await client.query<{ there: string | null }>(
      `select to_regclass('platform.migration') as there`,
    )
    const wanted = await readMigrations(folder)
    if (found[0]?.there === null) return wanted.map(({ name }) => name)
    const { rows } = await client.query<{ name: string }>('select name from platform.migration')
    const applied = new Set(rows.map((row) => row.name))
    return wanted.map(({ name }) => name).filter((name) => !applied.has(name))
  } finally {
    await client.end()
  }
}
