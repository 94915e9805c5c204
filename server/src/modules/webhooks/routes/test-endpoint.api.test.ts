import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webhookEventTypes } from '@switchyard/contracts/webhook-events.ts'
import {
  listWebhookDeliveries,
  listWebhookEventTypes,
  pauseWebhookEndpoint,
  retrieveWebhookEndpoint,
  testWebhookEndpoint,
  updateWebhookEndpoint,
} from '@switchyard/contracts/webhooks.ts'
import OpenAI from 'openai'
import { webhooksKit, type WebhooksKit } from '../testing/webhooks-kit.ts'

const of = (id: string) => ({ params: { webhook_endpoint_id: id } })
const sendTest = ({ app }: WebhooksKit, id: string, type: string) =>
  app.call(testWebhookEndpoint, { ...of(id), body: { event_type: type } })

// S3-6-i S3-6-j
test('a sample of every event type that is listed can be sent, and the SDK unwraps it', async (t) => {
  const kit = await webhooksKit(t)
  const made = await kit.endpoint('/hook')
  const { body: types } = await kit.app.call(listWebhookEventTypes)
  assert.deepEqual(types, { object: 'list', data: [...webhookEventTypes] })
  const client = new OpenAI({ apiKey: 'none', webhookSecret: made.signing_secret })
  for (const type of types.data) {
    const reply = await sendTest(kit, made.id, type)
    assert.deepEqual(reply.body, {
      object: 'webhook_endpoint.test',
      webhook_endpoint_id: made.id,
      event_type: type,
      status_code: 200,
      success: true,
    })
    const received = kit.sink.received.at(-1)
    const event: { type: string; data: object } = await client.webhooks.unwrap(received?.body ?? '', received?.headers)
    assert.equal(event.type, type)
    assert.ok(Object.keys(event.data).length > 0)
  }
  assert.equal(kit.sink.received.length, types.data.length)
  const { updated_at: updatedAt } = (await kit.app.call(retrieveWebhookEndpoint, of(made.id))).body
  assert.equal(updatedAt, made.updated_at)
  assert.deepEqual((await kit.app.call(listWebhookDeliveries, of(made.id))).body.data, [], 'a test is no delivery')
})

test('a test says what came back, and fails only when nothing did', async (t) => {
  const kit = await webhooksKit(t)
  const { id } = await kit.endpoint('/hook')
  for (const status of [500, 302, 404]) {
    kit.sink.answer('/hook', (response) => response.writeHead(status, { location: '/elsewhere' }).end())
    const { body } = await sendTest(kit, id, 'batch.failed')
    assert.deepEqual([body.status_code, body.success], [status, false])
  }
  assert.ok(kit.sink.received.every(({ path }) => path === '/hook'))
  kit.sink.answer('/hook', (response) => response.destroy())
  const broken = await sendTest(kit, id, 'batch.failed')
  assert.deepEqual([broken.status, broken.error.code], [400, 'webhook_test_failed'])
  assert.match(broken.error.message, /reset/)
  await kit.app.call(updateWebhookEndpoint, { ...of(id), body: { url: 'http://127.0.0.1:1/' } })
  const dead = await sendTest(kit, id, 'batch.failed')
  assert.deepEqual([dead.status, dead.error.code], [400, 'webhook_test_failed'])
  assert.match(dead.error.message, /connect_failed/)
})

test('a paused endpoint can be tested; an unknown type cannot', async (t) => {
  const kit = await webhooksKit(t)
  const { id } = await kit.endpoint('/hook')
  await kit.app.call(pauseWebhookEndpoint, of(id))
  assert.equal((await sendTest(kit, id, 'response.completed')).body.success, true)
  const unknown = await sendTest(kit, id, 'response.done')
  assert.deepEqual([unknown.status, unknown.error.code, unknown.error.param], [400, 'invalid_value', 'event_type'])
})
