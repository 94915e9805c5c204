import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { PlatformTables } from '#platform/db/tables.ts'
import { Fault } from '#platform/errors/fault.ts'
import { testDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { sweepIdempotency, type Claim } from './idempotency.ts'
import { create, idempotentApp, type IdempotentApp } from './testing/idempotent-app.ts'
import { principals } from './testing/test-server.ts'

let database: TestDatabase
before(async () => void (database = await testDatabase()))
after(() => database.drop())

const scope = principals['sk-proj-good']!.scope

/** What the server asks for on a create with this body: the same as a process that died right after. */
async function claim(app: IdempotentApp, key: string, name: string): Promise<Claim> {
  const begun = await app.idempotency.begin(create, scope, key, {
    params: undefined,
    query: undefined,
    body: { name },
    file: undefined,
  })
  assert.ok('claim' in begun)
  return begun.claim
}

const passLease = (app: IdempotentApp, key: string) =>
  sql`update platform.idempotency set lease_until = clock_timestamp() - interval '1 second' where key = ${key}`.execute(
    app.db.kysely,
  )

async function completes(app: IdempotentApp, stale: Claim): Promise<boolean> {
  try {
    await app.db.tx((tx) => stale.complete(tx, { late: true }))
    return true
  } catch (error) {
    assert.ok(error instanceof Fault)
    assert.equal(error.code, 'idempotency_key_in_use')
    return false
  }
}

test('the same request twenty times at once is carried out once, and every answer is that one', async (t) => {
  const app = await idempotentApp(t, database.url)
  const replies = await Promise.all(Array.from({ length: 20 }, () => app.call('/v1/things', 'k1', { name: 'a' })))
  assert.equal(await app.things(), 1)
  const done = replies.filter(({ status }) => status === 200)
  assert.ok(done.length >= 1)
  for (const { body } of done) assert.deepEqual(body, done[0]?.body)
  for (const { status, body, headers } of replies.filter((reply) => !done.includes(reply))) {
    assert.deepEqual([status, body.error?.code, headers.get('x-should-retry')], [409, 'idempotency_key_in_use', null])
    assert.ok(Number(headers.get('retry-after')) > 0, 'an SDK that waits gets the answer')
  }
  const later = await app.call('/v1/things', 'k1', { name: 'a' })
  assert.deepEqual([later.status, later.body], [200, done[0]?.body])
  assert.equal(await app.things(), 1)
})

test('without a key every request is carried out', async (t) => {
  const app = await idempotentApp(t, database.url)
  await Promise.all([app.call('/v1/things', null, { name: 'a' }), app.call('/v1/things', null, { name: 'a' })])
  assert.equal(await app.things(), 2)
})

test('a key used for another request is refused and must not be retried', async (t) => {
  const app = await idempotentApp(t, database.url)
  await app.call('/v1/things', 'k', { name: 'a', n: 1 })
  for (const [path, body] of [
    ['/v1/things', { name: 'b', n: 1 }],
    ['/v1/things', { name: 'a' }],
    ['/v1/others', { name: 'a' }],
  ] as const) {
    const reply = await app.call(path, 'k', body)
    assert.deepEqual(
      [reply.status, reply.body.error?.code, reply.headers.get('x-should-retry')],
      [409, 'idempotency_key_reused', 'false'],
    )
  }
  assert.equal(
    (await app.call('/v1/things', 'k', { n: 1, name: 'a' })).status,
    200,
    'the order of fields does not matter',
  )
  assert.equal(await app.things(), 1)
})

test('a key belongs to its project', async (t) => {
  const app = await idempotentApp(t, database.url)
  await app.call('/v1/things', 'k', { name: 'a' })
  const reply = await app.call('/v1/things', 'k', { name: 'b' }, { authorization: 'Bearer sk-proj-second' })
  assert.equal(reply.status, 200)
  assert.equal(await app.things(), 2)
})

test('a request that failed frees its key, also for another body', async (t) => {
  const app = await idempotentApp(t, database.url)
  const failed = await app.call('/v1/things', 'k', { name: 'a', fail: true })
  assert.equal(failed.status, 400)
  assert.equal(await app.things(), 0)
  assert.equal((await app.call('/v1/things', 'k', { name: 'b' })).status, 200)
})

test('a key that is no key is refused', async (t) => {
  const app = await idempotentApp(t, database.url)
  for (const key of ['', 'a b', 'x'.repeat(256), 'ä']) {
    const reply = await app.call('/v1/things', key, { name: 'a' })
    assert.deepEqual(
      [reply.status, reply.body.error?.code, reply.body.error?.param],
      [400, 'invalid_value', 'Idempotency-Key'],
      key,
    )
  }
  assert.equal((await app.call('/v1/things', 'x'.repeat(255), { name: 'a' })).status, 200)
})

test('only creates take a key', async (t) => {
  const app = await idempotentApp(t, database.url)
  await app.call('/v1/updates', 'k', { name: 'a' })
  assert.equal((await app.call('/v1/updates', 'k', { name: 'b' })).status, 200)
  assert.equal(await app.things(), 2)
})

test('a claim of a process that died is taken over after its lease, and the dead one can no longer commit', async (t) => {
  const app = await idempotentApp(t, database.url)
  const dead = await claim(app, 'k', 'a')
  const early = await app.call('/v1/things', 'k', { name: 'a' })
  assert.deepEqual([early.status, early.body.error?.code], [409, 'idempotency_key_in_use'])
  await passLease(app, 'k')
  const taken = await app.call('/v1/things', 'k', { name: 'a' })
  assert.equal(taken.status, 200)
  assert.equal(await completes(app, dead), false)
  await dead.release()
  assert.deepEqual((await app.call('/v1/things', 'k', { name: 'a' })).body, taken.body, 'nor can it free the key')
})

test('of several that find a dead claim one takes it', async (t) => {
  const app = await idempotentApp(t, database.url)
  await claim(app, 'k', 'a')
  await passLease(app, 'k')
  const replies = await Promise.all(Array.from({ length: 10 }, () => app.call('/v1/things', 'k', { name: 'a' })))
  assert.equal(await app.things(), 1)
  assert.ok(replies.every(({ status }) => status === 200 || status === 409))
})

test('an attempt that slept through a takeover, a failure and a new claim is still refused', async (t) => {
  const app = await idempotentApp(t, database.url)
  const asleep = await claim(app, 'k', 'a')
  await passLease(app, 'k')
  const second = await claim(app, 'k', 'a')
  await second.release()
  const third = await claim(app, 'k', 'a')
  assert.equal(await completes(app, asleep), false)
  assert.equal(await completes(app, second), false)
  assert.equal(await completes(app, third), true)
})

test('another body does not disturb an attempt that is only slow', async (t) => {
  const app = await idempotentApp(t, database.url)
  const slow = await claim(app, 'k', 'a')
  await passLease(app, 'k')
  assert.equal((await app.call('/v1/things', 'k', { name: 'b' })).body.error?.code, 'idempotency_key_reused')
  assert.equal(await completes(app, slow), true)
})

test('a reply is kept for a day, one that shows a secret for ten minutes, and then the key is new', async (t) => {
  const app = await idempotentApp(t, database.url)
  await app.call('/v1/things', 'day', { name: 'a' })
  const shown = await app.call('/v1/secrets', 'minutes', {})
  assert.deepEqual((await app.call('/v1/secrets', 'minutes', {})).body, shown.body)
  const { rows } = await sql<{ key: string; minutes: number }>`
    select key, round(extract(epoch from expires_at - clock_timestamp()) / 60)::int as minutes
    from platform.idempotency order by key`.execute(app.db.kysely)
  assert.deepEqual(rows, [
    { key: 'day', minutes: 1_440 },
    { key: 'minutes', minutes: 10 },
  ])
  await sql`update platform.idempotency set expires_at = clock_timestamp() - interval '1 second'`.execute(app.db.kysely)
  const again = await app.call('/v1/things', 'day', { name: 'quite another' })
  assert.deepEqual([again.status, again.body.name], [200, 'quite another'])
  assert.deepEqual((await app.call('/v1/things', 'day', { name: 'quite another' })).body, again.body)
})

test('what is kept says nothing to whoever reads the table', async (t) => {
  const app = await idempotentApp(t, database.url)
  await app.call('/v1/secrets', 'k1', {})
  await app.call('/v1/things', 'k2', { name: 'confidential name' })
  const { rows } = await sql`select * from platform.idempotency`.execute(app.db.kysely)
  assert.equal(rows.length, 2)
  assert.doesNotMatch(JSON.stringify(rows), /shown-once|confidential/)
})

test('the sweep removes what has passed, so many at a time, and nothing else', async (t) => {
  const app = await idempotentApp(t, database.url)
  for (const key of ['a', 'b', 'c', 'kept']) await app.call('/v1/things', key, { name: key })
  await sql`update platform.idempotency set expires_at = clock_timestamp() - interval '1 second' where key <> 'kept'`.execute(
    app.db.kysely,
  )
  const db = app.db.as<PlatformTables>()
  assert.deepEqual(
    [await sweepIdempotency(db, 2), await sweepIdempotency(db, 2), await sweepIdempotency(db, 2)],
    [2, 1, 0],
  )
  assert.equal((await app.call('/v1/things', 'kept', { name: 'kept' })).status, 200)
  assert.equal(await app.things(), 4)
})

function form(text: string, filename = 'a.txt'): FormData {
  const data = new FormData()
  data.set('purpose', 'evals')
  data.set('file', new Blob([text]), filename)
  return data
}

test('an upload with a key is kept once, and what was sent again is thrown away', async (t) => {
  const app = await idempotentApp(t, database.url)
  const first = await app.call('/v1/uploads', 'k', form('hello'))
  const again = await app.call('/v1/uploads', 'k', form('hello'))
  assert.deepEqual([first.status, again.status, again.body], [200, 200, first.body])
  assert.deepEqual(app.discarded, ['hello'])
  for (const changed of [form('other'), form('hello', 'b.txt')]) {
    assert.equal((await app.call('/v1/uploads', 'k', changed)).body.error?.code, 'idempotency_key_reused')
  }
  assert.deepEqual(app.discarded, ['hello', 'other', 'hello'])
  assert.equal(await app.things(), 1)
})
