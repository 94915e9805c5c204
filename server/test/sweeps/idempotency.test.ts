import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '@switchyard/contracts/operation.ts'
import { sql } from 'kysely'
import type { TestApp } from '../test-app.ts'
import { exampleOf, sweptOperations } from './examples.ts'
import { ask, ownPlace, siblingPlace } from './place.ts'
import { snapshot } from './snapshot.ts'
import { sweepApp } from './sweep-app.ts'

const creates = () => sweptOperations().filter((operation) => operation.creates === true)
const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })

/** Another create for the same kind of key. */
function otherThan(operation: Operation): Operation {
  const other = creates().find(({ auth, id }) => auth === operation.auth && id !== operation.id)
  assert.ok(other !== undefined)
  return other
}

async function keptText(app: TestApp): Promise<string> {
  const { rows } = await sql<{ row: string }>`select to_jsonb(k)::text as row from platform.idempotency k`.execute(
    app.db.kysely,
  )
  return rows.map(({ row }) => row).join('\n')
}

test('a create repeated with its Idempotency-Key gives the same reply and makes nothing more', async (t) => {
  const place = ownPlace(await sweepApp(t))
  for (const operation of creates()) {
    await t.test(operation.id, async () => {
      const example = await exampleOf(operation, place)
      const first = await ask(place, operation, { ...example, ...withKey(operation.id) })
      assert.equal(first.status, 200, first.text)
      const made = await snapshot(place.app)
      const again = await ask(place, operation, { ...example, ...withKey(operation.id) })
      assert.deepEqual([again.status, again.text], [200, first.text])
      assert.notEqual(again.headers.get('x-request-id'), first.headers.get('x-request-id'))
      assert.deepEqual(await snapshot(place.app), made)
    })
  }
})

test('several creates at once with one Idempotency-Key make one object', async (t) => {
  const place = ownPlace(await sweepApp(t))
  for (const operation of creates()) {
    await t.test(operation.id, async () => {
      const example = await exampleOf(operation, place)
      const input = { ...example, ...withKey(`${operation.id}-at-once`) }
      const replies = await Promise.all(Array.from({ length: 4 }, () => ask(place, operation, input)))
      const good = replies.filter(({ status }) => status === 200)
      const busy = replies.filter(({ error }) => error?.code === 'idempotency_key_in_use')
      assert.equal(good.length + busy.length, replies.length, replies.map(({ text }) => text).join('\n'))
      assert.equal(new Set(good.map(({ text }) => text)).size, 1)
      for (const { status, headers } of busy) {
        assert.equal(status, 409)
        assert.equal(headers.get('x-should-retry'), null)
        assert.ok(Number(headers.get('retry-after-ms')) > 0)
      }
      const made = await snapshot(place.app)
      const later = await ask(place, operation, input)
      assert.equal(later.text, good[0]?.text)
      assert.deepEqual(await snapshot(place.app), made)
    })
  }
})

test('an Idempotency-Key used for another request is refused and not to be retried', async (t) => {
  const place = ownPlace(await sweepApp(t))
  for (const operation of creates()) {
    const key = `${operation.id}-reused`
    assert.equal((await ask(place, operation, { ...(await exampleOf(operation, place)), ...withKey(key) })).status, 200)
    const other = otherThan(operation)
    const example = await exampleOf(other, place)
    const before = await snapshot(place.app)
    const reply = await ask(place, other, { ...example, ...withKey(key) })
    assert.deepEqual([reply.status, reply.error?.code], [409, 'idempotency_key_reused'], operation.id)
    assert.equal(reply.headers.get('x-should-retry'), 'false')
    assert.equal(reply.error?.param, 'Idempotency-Key')
    assert.deepEqual(await snapshot(place.app), before)
  }
})

test('a create that was refused leaves its Idempotency-Key free for another try', async (t) => {
  const place = ownPlace(await sweepApp(t))
  for (const operation of creates()) {
    const example = await exampleOf(operation, place)
    const key = withKey(`${operation.id}-refused`)
    const refused = await ask(place, operation, { ...example, query: { nonsense: '1' }, ...key })
    assert.equal(refused.status, 400)
    const reply = await ask(place, operation, { ...example, ...key })
    assert.equal(reply.status, 200, reply.text)
  }
})

test('one Idempotency-Key in two projects is two keys', async (t) => {
  const app = await sweepApp(t)
  for (const operation of creates().filter(({ auth }) => auth === 'project_key')) {
    const texts: string[] = []
    for (const place of [ownPlace(app), siblingPlace(app)]) {
      const reply = await ask(place, operation, { ...(await exampleOf(operation, place)), ...withKey(operation.id) })
      assert.equal(reply.status, 200, reply.text)
      texts.push(reply.text)
    }
    assert.notEqual(texts[0], texts[1])
  }
})

test('a reply that shows a secret is kept sealed, and minutes only', async (t) => {
  const place = ownPlace(await sweepApp(t))
  for (const operation of creates()) {
    const reply = await ask(place, operation, { ...(await exampleOf(operation, place)), ...withKey(operation.id) })
    const secrets = reply.text.match(/(?:sk-[a-z]+-|adsk_)[a-z0-9]+_[a-z0-9_]{20,}|whsec_[\w+/=]{20,}/g) ?? []
    assert.equal(secrets.length > 0, operation.showsSecret === true, `${operation.id}: is showsSecret right?`)
    const kept = await keptText(place.app)
    for (const secret of secrets) assert.ok(!kept.includes(secret))
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from expires_at - clock_timestamp())::int as seconds
      from platform.idempotency where key = ${operation.id}`.execute(place.app.db.kysely)
    const [bound = 0] = rows.map(({ seconds }) => seconds)
    assert.ok(bound > 0 && bound <= (operation.showsSecret === true ? 600 : 86_400), `${operation.id}: ${bound} s`)
  }
})
