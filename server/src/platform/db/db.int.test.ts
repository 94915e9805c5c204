import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { route } from '#platform/http/route.ts'
import { key, testServer, thing } from '#platform/http/testing/test-server.ts'
import { testDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { openDatabase, type Database } from './db.ts'
import { statement } from './statement.ts'
import { own } from './tx.ts'
import { isDatabaseUnavailable } from './unavailable.ts'

let database: TestDatabase
before(async () => void (database = await testDatabase()))
after(() => database.drop())

function open(t: TestContext, connectionsMax = 2, failures: Error[] = []): Database {
  const db = openDatabase({
    url: database.url,
    connectionsMax,
    statementTimeoutMs: 2_000,
    applicationName: 'db-test',
    onIdleError: (error) => failures.push(error),
  })
  t.after(() => db.close())
  return db
}

/** Ends every connection of this test file but the one that asks, as a restart of PostgreSQL would. */
const cutOthers = (db: Database) =>
  sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'db-test' and pid <> pg_backend_pid()`.execute(
    db.kysely,
  )

test('sizes, counts and sums are numbers, and one that does not fit is an error instead of a rounding', async (t) => {
  const db = open(t)
  const { rows } = await sql`select 9007199254740991::bigint as big, array[1, 2, null]::bigint[] as list,
    sum(n)::numeric as total, 1.5::numeric as half, count(*) as n, null::bigint as none
    from generate_series(1, 3) as n`.execute(db.kysely)
  assert.deepEqual(rows, [{ big: 9_007_199_254_740_991, list: [1, 2, null], total: 6, half: 1.5, n: 3, none: null }])
  await assert.rejects(sql`select 9007199254740993::bigint as n`.execute(db.kysely), /integer out of range/)
  await assert.rejects(sql`select 9007199254740993::numeric as n`.execute(db.kysely), /integer out of range/)
  assert.deepEqual((await sql`select 1 as n`.execute(db.kysely)).rows, [{ n: 1 }], 'the connection goes on')
})

test('a named statement is prepared once a connection and used from then on', async (t) => {
  const db = open(t, 1)
  const double = statement<[number], { n: number }>('test.double', 'select $1::int * 2 as n')
  for (let n = 0; n < 7; n += 1) assert.deepEqual(await db.run(double, [n]), [{ n: n * 2 }])
  const { rows } = await sql`select name, generic_plans + custom_plans as runs from pg_prepared_statements`.execute(
    db.kysely,
  )
  assert.deepEqual(rows, [{ name: 'test.double', runs: 7 }])
})

test('a statement’s name must fit into PostgreSQL', () => {
  assert.throws(() => statement('x'.repeat(64), 'select 1'), /name/)
  assert.throws(() => statement('', 'select 1'), /name/)
})

test('hooks run after the commit, and never after a rollback', async (t) => {
  const db = open(t)
  await sql`create table if not exists hooked (id int primary key)`.execute(db.kysely)
  const seen: string[] = []
  const result = await db.tx(async (tx) => {
    tx.afterCommit(() => seen.push('first'))
    tx.afterCommit(() => seen.push('second'))
    await sql`insert into hooked values (1)`.execute(own(tx))
    assert.deepEqual(seen, [])
    return 'done'
  })
  assert.deepEqual([result, seen], ['done', ['first', 'second']])
  await assert.rejects(
    db.tx(async (tx) => {
      tx.afterCommit(() => seen.push('never'))
      throw new Error('changed my mind')
    }),
    /changed my mind/,
  )
  await assert.rejects(
    db.tx(async (tx) => {
      tx.afterCommit(() => seen.push('never'))
      await sql`insert into hooked values (1)`.execute(own(tx))
    }),
    { code: '23505' },
  )
  assert.deepEqual(seen, ['first', 'second'])
})

test('a hook that fails does not undo what is committed, nor stop the others', async (t) => {
  const failures: Error[] = []
  const db = open(t, 2, failures)
  const seen: string[] = []
  const result = await db.tx(async (tx) => {
    tx.afterCommit(() => {
      throw new Error('hook broke')
    })
    tx.afterCommit(() => seen.push('next'))
    return 1
  })
  assert.deepEqual([result, seen, failures.map(({ cause }) => String(cause))], [1, ['next'], ['Error: hook broke']])
})

test('a statement that failed inside a transaction rolls it back, even when its error was swallowed', async (t) => {
  const db = open(t)
  await sql`create table if not exists swallowed (id int primary key)`.execute(db.kysely)
  await assert.rejects(
    db.tx(async (tx) => {
      await sql`insert into swallowed values (1)`.execute(own(tx))
      await sql`insert into swallowed values (1)`.execute(own(tx)).catch(() => undefined)
    }),
  )
  assert.deepEqual((await sql`select * from swallowed`.execute(db.kysely)).rows, [])
})

test('a lost connection is told as what it is, inside a transaction too, and the next query works', async (t) => {
  const failures: Error[] = []
  const db = open(t, 2, failures)
  const cutter = open(t, 1)
  await assert.rejects(
    db.tx(async (tx) => {
      await sql`select 1`.execute(own(tx))
      await cutOthers(cutter)
      await sql`select 2`.execute(own(tx))
    }),
    (error: unknown) => isDatabaseUnavailable(error),
  )
  await assert.rejects(
    db.tx(async () => {
      await cutOthers(cutter)
      throw new TypeError('what failed first')
    }),
    /what failed first/,
  )
  assert.deepEqual((await sql`select 1 as n`.execute(db.kysely)).rows, [{ n: 1 }])
})

test('a statement that takes too long is ended and told as an outage', async (t) => {
  const db = open(t, 1)
  await assert.rejects(sql`select pg_sleep(10)`.execute(db.kysely), (error: unknown) => isDatabaseUnavailable(error))
})

test('callers are told 503 and when to come back while the database is away, and nothing of why', async (t) => {
  const db = open(t, 2)
  const cutter = open(t, 1)
  const waiting = statement<[], { n: number }>('test.waiting', 'select 1 as n, pg_sleep(1.5)')
  const app = await testServer(t, {
    routes: [
      route(thing({}), async () => db.run(waiting, [])),
      route(thing({ path: '/v1/tx' }), async () =>
        db.tx(async (tx) => (await sql`select pg_sleep(1.5)`.execute(own(tx))).rows),
      ),
    ],
  })
  for (const path of ['/v1/things', '/v1/tx']) {
    const asked = fetch(`${app.url}${path}`, { headers: key })
    const sleeping = sql<{
      n: number
    }>`select count(*) as n from pg_stat_activity where datname = current_database() and query like '%pg_sleep(1.5)%' and state = 'active' and pid <> pg_backend_pid()`
    for (let turn = 0; turn < 100 && (await sleeping.execute(cutter.kysely)).rows[0]?.n === 0; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await cutOthers(cutter)
    const reply = await asked
    const text = await reply.text()
    assert.deepEqual([reply.status, reply.headers.get('retry-after')], [503, '1'], path)
    assert.match(text, /server_overloaded/)
    assert.doesNotMatch(text, /terminat|administrator|57P01|postgres/i)
    assert.equal((await fetch(`${app.url}/v1/nothing`, { headers: key })).status, 404)
  }
})

test('a pool without a free connection gives up in time', async (t) => {
  const db = open(t, 1)
  const gate = Promise.withResolvers<void>()
  const holding = db.tx(async () => gate.promise)
  await assert.rejects(sql`select 1`.execute(db.kysely), (error: unknown) => isDatabaseUnavailable(error))
  gate.resolve()
  await holding.catch(() => undefined)
})
