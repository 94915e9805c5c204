import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { migrate, missingMigrations, readMigrations } from './migrate.ts'

const serverUrl = () => process.env['SWITCHYARD_TEST_POSTGRES_URL'] ?? assert.fail('no test services')

interface Place {
  readonly url: string
  readonly folder: string
  write(name: string, sql: string): Promise<void>
  query(text: string): Promise<Record<string, unknown>[]>
}

/** An empty database and an empty folder of migrations. */
async function place(t: TestContext): Promise<Place> {
  const name = `migrate_${randomBytes(6).toString('hex')}`
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-migrate-'))
  const admin = new pg.Client({ connectionString: serverUrl() })
  await admin.connect()
  await admin.query(`create database ${name}`)
  const url = new URL(serverUrl())
  url.pathname = `/${name}`
  t.after(async () => {
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    url: url.href,
    folder,
    write: (file, sql) => writeFile(join(folder, file), sql),
    async query(text) {
      const client = new pg.Client({ connectionString: url.href })
      await client.connect()
      try {
        return (await client.query<Record<string, unknown>>(text)).rows
      } finally {
        await client.end()
      }
    },
  }
}

const applied = async (at: Place) =>
  (await at.query('select name from platform.migration order by applied_at')).map(({ name }) => name)

test('migrations are applied in order, once, and those that are missing are named', async (t) => {
  const at = await place(t)
  await at.write('0002-b.sql', 'insert into log values (2);')
  await at.write('0001-a.sql', 'create table log (n int); insert into log values (1);')
  await at.write('0010-c.sql', 'insert into log values (10);')
  await at.write('README.md', 'not a migration')
  assert.deepEqual(await missingMigrations(at.url, at.folder), ['0001-a', '0002-b', '0010-c'])
  const told: string[] = []
  const options = { url: at.url, folder: at.folder, onApplied: (name: string) => told.push(name) }
  assert.deepEqual(await migrate(options), ['0001-a', '0002-b', '0010-c'])
  assert.deepEqual(told, ['0001-a', '0002-b', '0010-c'])
  assert.deepEqual(await migrate(options), [])
  assert.deepEqual(await missingMigrations(at.url, at.folder), [])
  assert.deepEqual(await at.query('select n from log order by n'), [{ n: 1 }, { n: 2 }, { n: 10 }])
})

test('a schema that is newer than this program is accepted', async (t) => {
  const at = await place(t)
  await at.write('0001-a.sql', 'create table a (n int)')
  await migrate(at)
  await at.query(`insert into platform.migration (name, sha256) values ('0002-of-the-next-release', 'x')`)
  assert.deepEqual(await missingMigrations(at.url, at.folder), [])
  assert.deepEqual(await migrate(at), [])
})

test('a migration that was edited after it was applied stops everything behind it', async (t) => {
  const at = await place(t)
  await at.write('0001-a.sql', 'create table a (n int)')
  await migrate(at)
  await at.write('0001-a.sql', 'create table a (n bigint)')
  await at.write('0002-b.sql', 'create table b (n int)')
  await assert.rejects(migrate(at), /0001-a was edited/)
  assert.deepEqual(await applied(at), ['0001-a'])
})

test('a migration that fails leaves nothing of itself, and keeps what came before', async (t) => {
  const at = await place(t)
  await at.write('0001-a.sql', 'create table a (n int)')
  await at.write('0002-b.sql', 'create table b (n int); create table c (n int); select nonsense();')
  await at.write('0003-d.sql', 'create table d (n int)')
  await assert.rejects(
    migrate(at),
    (error: Error) => error.message === 'migration 0002-b failed' && /nonsense/.test(String(error.cause)),
  )
  assert.deepEqual(await applied(at), ['0001-a'])
  assert.deepEqual(await at.query(`select tablename from pg_tables where schemaname = 'public'`), [{ tablename: 'a' }])
  await at.write('0002-b.sql', 'create table b (n int)')
  assert.deepEqual(await migrate(at), ['0002-b', '0003-d'])
})

test('two that migrate at once do the work once', async (t) => {
  const at = await place(t)
  await at.write('0001-a.sql', 'create table a (n int); select pg_sleep(0.2);')
  await at.write('0002-b.sql', 'insert into a values (1);')
  const names = await Promise.all([migrate(at), migrate(at), migrate(at)])
  assert.deepEqual(names.flat().toSorted(), ['0001-a', '0002-b'])
  assert.deepEqual(await at.query('select n from a'), [{ n: 1 }])
})

test('an index can be built without stopping writers', async (t) => {
  const at = await place(t)
  await at.write('0001-a.sql', 'create table a (n int)')
  await at.write('0002-index.sql', '-- migrate: alone\ncreate index concurrently if not exists a_n on a (n);')
  assert.deepEqual(await migrate(at), ['0001-a', '0002-index'])
  assert.deepEqual(
    (await readMigrations(at.folder)).map(({ alone }) => alone),
    [false, true],
  )
})

test('a migration that meets a lock steps back, lets others pass, and comes again', { timeout: 60_000 }, async (t) => {
  const at = await place(t)
  await at.write('0001-a.sql', 'create table a (n int)')
  await migrate(at)
  await at.write('0002-b.sql', 'alter table a add column m int')
  const holder = new pg.Client({ connectionString: at.url })
  await holder.connect()
  await holder.query('begin; lock table a in access share mode')
  const migrating = migrate(at)
  const waits = `select count(*)::int as n from pg_locks where not granted and relation = 'a'::regclass`
  const waiting = async () => (await at.query(waits))[0]?.['n'] === 1
  for (let turn = 0; turn < 500 && !(await waiting()); turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10))
  for (let turn = 0; turn < 1_000 && (await waiting()); turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(await waiting(), false, 'it gave up waiting')
  assert.deepEqual(await at.query('select count(*)::int as n from a'), [{ n: 0 }], 'and others pass')
  await holder.query('commit')
  await holder.end()
  assert.deepEqual(await migrating, ['0002-b'])
})

test('a connection that is lost midway is an error, not the end of the process', async (t) => {
  const at = await place(t)
  await at.write('0001-a.sql', 'select pg_sleep(30)')
  const migrating = assert.rejects(migrate(at), /migration 0001-a failed/)
  const sleeping = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query = 'select pg_sleep(30)'`
  for (let turn = 0; turn < 500 && (await at.query(sleeping)).length === 0; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10))
  await migrating
})
