import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { Webhook } from 'standardwebhooks'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { listWebhookDeliveries, retrieveWebhookDelivery } from '@switchyard/contracts/webhooks.ts'
import { webhooksKit } from '../testing/webhooks-kit.ts'

const boundMs = 15_000

// S3-2.2-a S3-2.3-a S3-2.3-b S3-2.3-c S3-2.3-d S3-2.3-e S3-5.2-a S3-1.2-f
test('an event arrives signed, and both the SDK and the standard verifier accept it', async (t) => {
  const { sink, endpoint, publish } = await webhooksKit(t)
  const { signing_secret: secret } = await endpoint('/hook')
  const [eventId] = await publish('response.completed', 'resp_1')
  assert.ok(await becomesTrue(() => sink.received.length === 1, boundMs))
  const [{ headers, body }] = sink.received as [(typeof sink.received)[0]]
  const client = new OpenAI({ apiKey: 'x', webhookSecret: secret })
  const event = await client.webhooks.unwrap(body, headers)
  assert.deepEqual(
    { ...event, created_at: 0 },
    { id: eventId, object: 'event', type: 'response.completed', created_at: 0, data: { id: 'resp_1' } },
  )
  new Webhook(secret).verify(body, headers as Record<string, string>)
  assert.equal(headers['content-type'], 'application/json')
  assert.match(headers['user-agent'] ?? '', /Switchyard/)
  assert.equal(headers['webhook-id'], `wh_${eventId?.slice(4)}`)
})

// S3-6-d S3-6-g S3-6-h
test('a failed delivery is tried again with the same webhook-id until it is taken; a redirect is a failure and not followed', async (t) => {
  const { app, sink, endpoint, publish } = await webhooksKit(t, { SWITCHYARD_WEBHOOKS_TIME_SCALE: '0.01' })
  let asked = 0
  sink.answer('/hook', (response) => {
    asked += 1
    if (asked === 1) response.writeHead(500).end('not now')
    else if (asked === 2) response.writeHead(302, { location: `${sink.url}/elsewhere` }).end()
    else response.writeHead(204).end()
  })
  const { id } = await endpoint('/hook')
  await publish('response.completed', 'resp_1')
  assert.ok(await becomesTrue(() => asked === 3, boundMs))
  assert.equal(new Set(sink.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  assert.ok(sink.received.every(({ path }) => path === '/hook'))
  const delivered = async () =>
    (await app.call(listWebhookDeliveries, { params: { webhook_endpoint_id: id } })).body.data[0]?.status ===
    'delivered'
  assert.ok(await becomesTrue(delivered, boundMs))
  const [delivery] = (await app.call(listWebhookDeliveries, { params: { webhook_endpoint_id: id } })).body.data
  const { body } = await app.call(retrieveWebhookDelivery, { params: { delivery_id: delivery?.id ?? '' } })
  assert.deepEqual(
    body.attempt_log.map(({ number, status_code: status, outcome, response_start: start }) => ({
      number,
      status,
      outcome,
      start,
    })),
    [
      { number: 1, status: 500, outcome: 'status', start: 'not now' },
      { number: 2, status: 302, outcome: 'redirected', start: null },
      { number: 3, status: 204, outcome: 'delivered', start: null },
    ],
  )
})

test('an urgent event leaves at once from the process that committed it', async (t) => {
  const { app, sink, endpoint } = await webhooksKit(t)
  await endpoint('/calls', ['realtime.call.incoming'])
  const began = performance.now()
  await app.db.tx((tx) =>
    app.wired.webhooks.publish(tx, {
      projectId: app.project.id,
      type: 'realtime.call.incoming',
      data: { call_id: 'rtc_1', sip_headers: [] },
    }),
  )
  assert.ok(await becomesTrue(() => sink.received.length === 1, boundMs))
  t.diagnostic(`commit to arrival ${(performance.now() - began).toFixed(1)} ms`)
})

test('nothing is sent for an event nobody subscribed to, nor to another project', async (t) => {
  const { app, sink, endpoint, publish } = await webhooksKit(t)
  await endpoint('/hook')
  await publish('batch.completed', 'batch_1')
  await app.db.tx((tx) =>
    app.wired.webhooks.publish(tx, { projectId: app.other.id, type: 'response.completed', data: { id: 'resp_other' } }),
  )
  await publish('response.completed', 'resp_mine')
  assert.ok(await becomesTrue(() => sink.received.length > 0, boundMs))
  assert.deepEqual(
    sink.received.map(({ body }) => (JSON.parse(body) as { data: unknown }).data),
    [{ id: 'resp_mine' }],
  )
})
