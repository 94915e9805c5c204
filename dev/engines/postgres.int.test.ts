import assert from 'node:assert/strict'
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import pg from 'pg'
import { isAlive, listProcessesIn } from '../processes.ts'
import { chooseAccount, userNamespacesWork } from './account.ts'
import { findPostgresPrograms } from './postgres-programs.ts'
import { startPostgres } from './postgres.ts'
import { scratch } from './testing/scratch.ts'

async function ask<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Row>(sql)
    return rows
  } finally {
    await client.end()
  }
}

test('the cluster is made once, listens on loopback only and asks for its password', async (t) => {
  const { folder, own } = scratch(t)
  const postgres = own(await startPostgres({ dataDir: folder }))
  const settings = await ask(
    postgres.url,
    `select name, setting from pg_settings where name in
     ('listen_addresses', 'max_connections', 'fsync', 'unix_socket_directories', 'password_encryption', 'server_encoding')
     order by name`,
  )
  assert.deepEqual(Object.fromEntries(settings.map((row) => [row['name'], row['setting']])), {
    fsync: 'on',
    listen_addresses: '127.0.0.1',
    max_connections: '200',
    password_encryption: 'scram-sha-256',
    server_encoding: 'UTF8',
    unix_socket_directories: '',
  })
  assert.equal(statSync(join(folder, 'password')).mode & 0o777, 0o600)
  const wrong = postgres.url.replace(/:[0-9a-f]+@/, ':wrong@')
  await assert.rejects(ask(wrong, 'select 1'), /password authentication failed/)

  await ask(postgres.url, 'create table kept as select 7 as n')
  await postgres.stop()
  const again = own(await startPostgres({ dataDir: folder, fsync: false }))
  assert.deepEqual(await ask(again.url, 'select n from kept'), [{ n: 7 }])
  assert.deepEqual(await ask(again.url, 'show fsync'), [{ fsync: 'off' }])
})

test('after kill -9 under open sessions it starts again with everything committed', async (t) => {
  const { folder, own } = scratch(t)
  const postgres = own(await startPostgres({ dataDir: folder }))
  await ask(postgres.url, 'create table step (n int primary key)')
  for (let round = 1; round <= 3; round += 1) {
    const busy = new pg.Client({ connectionString: postgres.url })
    busy.on('error', () => {})
    await busy.connect()
    await busy.query(`insert into step values (${round})`)
    // A backend that computes does not notice that its server is gone, and keeps the shared memory.
    const computing = busy.query('select count(*) from generate_series(1, 2000000000)').catch(() => null)
    const killed = postgres.pid
    await postgres.kill9()
    assert.equal(isAlive(killed), false)
    await postgres.restart()
    await computing
    assert.notEqual(postgres.pid, killed)
    assert.deepEqual(await ask(postgres.url, 'select count(*)::int as n from step'), [{ n: round }])
  }
  await postgres.stop()
  assert.deepEqual(listProcessesIn(join(folder, 'cluster')), [])
})

test('root can run it from a folder that no other user may enter', async (t) => {
  if (process.getuid?.() !== 0 || !userNamespacesWork()) return t.skip('needs root and user namespaces')
  const { folder, own } = scratch(t)
  chmodSync(folder, 0o700)
  const postgres = own(await startPostgres({ dataDir: join(folder, 'data'), fsync: false }))
  assert.deepEqual(await ask(postgres.url, 'select 1 as n'), [{ n: 1 }])
  await postgres.stop()
  // The folder was opened up since: the same cluster now changes hands and goes on.
  chmodSync(folder, 0o755)
  const again = own(await startPostgres({ dataDir: join(folder, 'data'), fsync: false }))
  assert.deepEqual(await ask(again.url, 'select 1 as n'), [{ n: 1 }])
  const { uid = 0 } = chooseAccount([join(folder, 'data', 'cluster'), findPostgresPrograms()!.postgres])
  assert.match(readFileSync(`/proc/${again.pid}/status`, 'utf8'), new RegExp(`^Uid:\\s+${uid}\\b`, 'm'))
})
