import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deleteWebhookEndpoint,
  listWebhookEndpoints,
  pauseWebhookEndpoint,
  resumeWebhookEndpoint,
  retrieveWebhookDelivery,
  retrieveWebhookEndpoint,
  updateWebhookEndpoint,
} from '@switchyard/contracts/webhooks.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import type { TestApp } from '../../../../test/test-app.ts'
import { deliveryId } from '../domain/delivery-id.ts'
import { webhooksKit } from '../testing/webhooks-kit.ts'

const boundMs = 30_000
const of = (id: string) => ({ params: { webhook_endpoint_id: id } })

/** So that a change in the same second is still seen as one. */
const age = (app: TestApp) =>
  sql`update webhooks.endpoint set updated_at = updated_at - interval '100 seconds'`.execute(app.db.kysely)

test('endpoints are listed newest first, page by page, and read as they were made', async (t) => {
  const { app, endpoint } = await webhooksKit(t)
  const made = []
  for (const path of ['/1', '/2', '/3', '/4', '/5']) made.push((await endpoint(path)).id)
  const seen: string[] = []
  let after: string | undefined
  for (let page = 0; page < 3; page += 1) {
    const { body } = await app.call(listWebhookEndpoints, { query: { limit: 2, ...(after && { after }) } })
    seen.push(...body.data.map(({ id }) => id))
    after = body.last_id ?? undefined
    assert.equal(body.has_more, page < 2)
    for (const one of body.data) assert.deepEqual((await app.call(retrieveWebhookEndpoint, of(one.id))).body, one)
  }
  assert.deepEqual(seen, made.toReversed())
  await app.call(deleteWebhookEndpoint, of(made[2] ?? ''))
  const rest = await app.call(listWebhookEndpoints, { query: { after: made[2] ?? '' } })
  assert.deepEqual(
    rest.body.data.map(({ id }) => id),
    [made[1], made[0]],
    'a page can go on after one that was deleted meanwhile',
  )
  const nobody = await app.call(listWebhookEndpoints, { query: { after: 'whe_none' } })
  assert.deepEqual([nobody.status, nobody.error.param], [400, 'after'])
})

test('an update replaces what it names, the event types as a whole, and one that changes nothing leaves no trace', async (t) => {
  const { app, sink, endpoint } = await webhooksKit(t)
  const { id, signing_secret: _secret, ...made } = await endpoint('/a', ['response.completed', 'batch.failed'])
  await age(app)
  const same = await app.call(updateWebhookEndpoint, {
    ...of(id),
    body: { name: made.name, url: made.url, event_types: made.event_types },
  })
  assert.equal(same.body.updated_at, made.updated_at - 100)
  assert.equal((await app.call(updateWebhookEndpoint, of(id))).body.updated_at, made.updated_at - 100)
  const { body } = await app.call(updateWebhookEndpoint, { ...of(id), body: { event_types: ['batch.completed'] } })
  assert.ok(body.updated_at >= made.updated_at)
  assert.deepEqual({ ...body, updated_at: made.updated_at }, { id, ...made, event_types: ['batch.completed'] })
  const moved = await app.call(updateWebhookEndpoint, { ...of(id), body: { url: `${sink.url}/b`, name: 'B' } })
  assert.deepEqual([moved.body.url, moved.body.name], [`${sink.url}/b`, 'B'])
  const refused = await app.call(updateWebhookEndpoint, { ...of(id), body: { url: 'https://169.254.169.254/' } })
  assert.deepEqual([refused.status, refused.error.param], [400, 'url'])
})

test('a deleted endpoint is gone with its secrets, and what was still to be sent to it is discarded', async (t) => {
  const { app, sink, endpoint, publish } = await webhooksKit(t)
  sink.answer('/down', (response) => response.writeHead(503).end())
  const { id } = await endpoint('/down')
  const [eventId = ''] = await publish('response.completed', 'resp_1')
  assert.ok(await becomesTrue(() => sink.received.length > 0, boundMs))
  const { body } = await app.call(deleteWebhookEndpoint, of(id))
  assert.deepEqual(body, { id, object: 'webhook_endpoint.deleted', deleted: true })
  for (const operation of [retrieveWebhookEndpoint, deleteWebhookEndpoint, pauseWebhookEndpoint])
    assert.equal((await app.call(operation, of(id))).status, 404)
  const { rows } = await sql`select 1 from webhooks.secret where endpoint_id = ${id}`.execute(app.db.kysely)
  assert.equal(rows.length, 0)
  const delivery = async () =>
    (await app.call(retrieveWebhookDelivery, { params: { delivery_id: deliveryId(eventId, id) } })).body
  assert.ok(await becomesTrue(async () => (await delivery()).status === 'discarded', boundMs))
  const { attempt_log: log, next_attempt_at: next, last_error: error } = await delivery()
  assert.deepEqual(
    [log[0]?.status_code, log.at(-1)?.outcome, next, error],
    [503, 'endpoint_deleted', null, 'endpoint_deleted'],
  )
  await publish('response.completed', 'resp_2')
  assert.ok(
    sink.received.every(({ body: sent }) => sent.includes('resp_1')),
    'nothing more is sent',
  )
})

test('a paused endpoint gets nothing until it is resumed, and then what it missed', async (t) => {
  const { app, sink, endpoint, publish } = await webhooksKit(t)
  const { id } = await endpoint('/held')
  await endpoint('/other')
  await age(app)
  const paused = await app.call(pauseWebhookEndpoint, of(id))
  assert.equal(paused.body.status, 'paused')
  await age(app)
  const twice = await app.call(pauseWebhookEndpoint, of(id))
  assert.equal(twice.body.updated_at, paused.body.updated_at - 100, 'a pause of what is paused changes nothing')
  await publish('response.completed', 'resp_1', 'resp_2')
  const at = (path: string) => sink.received.filter((received) => received.path === path).length
  assert.ok(await becomesTrue(() => at('/other') === 2, boundMs))
  assert.equal(at('/held'), 0)
  assert.equal((await app.call(resumeWebhookEndpoint, of(id))).body.status, 'active')
  assert.ok(await becomesTrue(() => at('/held') === 2, boundMs))
})
