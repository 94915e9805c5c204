import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { sleep } from '#platform/std/clock.ts'

export interface Migration {
  readonly name: string
  readonly sql: string
  readonly sha256: string
  /**
   * `-- migrate: alone` on the first line: one statement, outside a transaction (an index built concurrently). It must
   * be written so that it can be run again (`if not exists`): a crash may come before it is recorded.
   */
  readonly alone: boolean
}

export interface MigrateOptions {
  readonly url: string
  readonly folder: string
  readonly onApplied?: (name: string, ms: number) => void
}

/** Any fixed number; two migrators of one database meet on it. */
const advisoryLock = 7_215_001
/** While it waits for a lock, a migration makes everyone else wait behind it. So it gives up soon, and comes back. */
const lockTimeoutMs = 5_000
const betweenTriesMs = 1_000
const triesMax = 24
const lockNotAvailable = '55P03'

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
  return await connected(options.url, async (client) => {
    await client.query(`set lock_timeout = ${lockTimeoutMs}`)
    await whileLocked('another migration holds the lock', () =>
      client.query('select pg_advisory_lock($1)', [advisoryLock]),
    )
    return await applyMissing(client, options)
  })
}

async function connected<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  // The query in hand fails with the same error. Without a listener it would end the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Tries again for as long as somebody else's lock is in the way, within bounds. */
async function whileLocked(failure: string, work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work()
      return
    } catch (error) {
      const locked = (error as { code?: unknown }).code === lockNotAvailable
      if (!locked || attempt >= triesMax) throw new Error(failure, { cause: error })
    }
    await sleep(betweenTriesMs)
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
  await whileLocked(`migration ${migration.name} failed`, async () => {
    if (migration.alone) {
      await client.query(migration.sql)
      await client.query(record)
      return
    }
    await client.query('begin')
    try {
      await client.query(migration.sql)
      await client.query(record)
      await client.query('commit')
    } catch (error) {
      // When the connection is lost this fails too, and what failed first is the reason.
      await client.query('rollback').catch(() => undefined)
      throw error
    }
  })
}

/**
 * What `serve` asks before it starts. An older schema is refused. A newer one is accepted: migrations are
 * additive for one release, so the previous release keeps running while the next is rolled out.
 */
export async function missingMigrations(url: string, folder: string): Promise<string[]> {
  const wanted = (await readMigrations(folder)).map(({ name }) => name)
  return await connected(url, async (client) => {
    const { rows: found } = await client.query<{ there: string | null }>(
      `select to_regclass('platform.migration') as there`,
    )
    if (found[0]?.there === null) return wanted
    const { rows } = await client.query<{ name: string }>('select name from platform.migration')
    const applied = new Set(rows.map((row) => row.name))
    return wanted.filter((name) => !applied.has(name))
  })
}
