import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pauseWebhookEndpoint, replayWebhooks } from '@switchyard/contracts/webhooks.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { webhooksKit, type WebhooksKit } from '../testing/webhooks-kit.ts'

const boundMs = 30_000
const soon = () => Math.floor(Date.now() / 1_000) + 60
const from = Math.floor(Date.now() / 1_000) - 3_600

const replay = ({ app }: WebhooksKit, id: string, body: Record<string, unknown> = {}) =>
  app.call(replayWebhooks, {
    params: { webhook_endpoint_id: id },
    body: { after: from, before: soon(), ...body },
  })

const idle = async ({ app }: WebhooksKit) =>
  (await sql`select 1 from webhooks.due limit 1`.execute(app.db.kysely)).rows.length === 0

test('a dry run counts what a replay then sends, with the ids they had', async (t) => {
  const kit = await webhooksKit(t)
  const { id } = await kit.endpoint('/hook', ['response.completed', 'batch.failed'])
  await kit.publish('response.completed', 'resp_1', 'resp_2', 'resp_3')
  await kit.publish('batch.failed', 'batch_1', 'batch_2')
  await kit.publish('batch.completed', 'batch_3')
  assert.ok(await becomesTrue(() => kit.sink.received.length === 5, boundMs))
  assert.ok(await becomesTrue(() => idle(kit), boundMs))
  const idsBefore = new Set(kit.sink.received.map(({ headers }) => headers['webhook-id']))
  const counted = await replay(kit, id, { dry_run: true })
  assert.deepEqual(counted.body, {
    object: 'webhook_endpoint.replay',
    webhook_endpoint_id: id,
    dry_run: true,
    events: 5,
  })
  assert.ok(await idle(kit), 'a dry run sends nothing')
  const done = await replay(kit, id)
  assert.deepEqual([done.body.dry_run, done.body.events], [false, 5])
  assert.ok(await becomesTrue(() => kit.sink.received.length === 10, boundMs))
  assert.deepEqual(new Set(kit.sink.received.map(({ headers }) => headers['webhook-id'])), idsBefore)
  assert.ok(await becomesTrue(() => idle(kit), boundMs))
  const ofType = await replay(kit, id, { event_types: ['batch.failed'] })
  assert.equal(ofType.body.events, 2)
  assert.ok(await becomesTrue(() => kit.sink.received.length === 12, boundMs))
  assert.ok(kit.sink.received.slice(10).every(({ body }) => body.includes('"batch.failed"')))
  assert.equal((await replay(kit, id, { before: from + 1, dry_run: true })).body.events, 0)
})

test('an endpoint made too late can fetch what happened before it', async (t) => {
  const kit = await webhooksKit(t)
  await kit.publish('response.completed', 'resp_1', 'resp_2')
  const { id } = await kit.endpoint('/late')
  assert.equal((await replay(kit, id)).body.events, 2)
  assert.ok(await becomesTrue(() => kit.sink.received.length === 2, boundMs))
})

test('a replay of failures leaves out what arrived and what is still to be tried', async (t) => {
  const kit = await webhooksKit(t)
  const { id } = await kit.endpoint('/hook')
  const events = await kit.publish('response.completed', 'resp_1', 'resp_2', 'resp_3')
  assert.ok(await becomesTrue(() => kit.sink.received.length === 3, boundMs))
  assert.ok(await becomesTrue(() => idle(kit), boundMs))
  await sql`update webhooks.attempt set ended = 'failed', outcome = 'status', status_code = 500
    where event_id = ${events[1]}`.execute(kit.app.db.kysely)
  await kit.app.call(pauseWebhookEndpoint, { params: { webhook_endpoint_id: id } })
  assert.equal((await replay(kit, id, { only_failed: true, dry_run: true })).body.events, 1)
  assert.equal((await replay(kit, id, { only_failed: true })).body.events, 1)
  assert.equal((await replay(kit, id, { only_failed: true })).body.events, 0, 'it is due already')
  assert.equal((await replay(kit, id, { dry_run: true })).body.events, 2)
})

test('a span must run forward and end before the year 10,000', async (t) => {
  const kit = await webhooksKit(t)
  const { id } = await kit.endpoint('/hook')
  const backwards = await replay(kit, id, { before: from })
  assert.deepEqual([backwards.status, backwards.error.param], [400, 'before'])
  const far = await replay(kit, id, { before: 9_007_199_254_740_991 })
  assert.deepEqual([far.status, far.error.param], [400, 'before'])
  assert.equal((await replay(kit, id, { after: 0, before: 253_402_300_799, dry_run: true })).status, 200)
})
