import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  listWebhookDeliveries,
  redeliverWebhook,
  retrieveWebhookDelivery,
  type WebhookDelivery,
} from '@switchyard/contracts/webhooks.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { deliveryId } from '../domain/delivery-id.ts'
import { webhooksKit, type WebhooksKit } from '../testing/webhooks-kit.ts'

const boundMs = 30_000

const list = async ({ app }: WebhooksKit, id: string, query: Record<string, string | number> = {}) =>
  (await app.call(listWebhookDeliveries, { params: { webhook_endpoint_id: id }, query })).body

async function all(kit: WebhooksKit, id: string, query: Record<string, string> = {}): Promise<WebhookDelivery[]> {
  const found: WebhookDelivery[] = []
  let after: string | null = null
  for (let page = 0; page < 20; page += 1) {
    const body = await list(kit, id, { ...query, limit: 2, ...(after && { after }) })
    found.push(...body.data)
    after = body.last_id
    if (!body.has_more) return found
  }
  throw new Error('the pages do not end')
}

/** As the end of its 72 hours leaves a delivery. */
async function giveUp({ app }: WebhooksKit, endpointId: string, eventId: string): Promise<void> {
  await sql`update webhooks.attempt set ended = 'failed', next_at = null
    where event_id = ${eventId} and endpoint_id = ${endpointId}`.execute(app.db.kysely)
  await sql`delete from webhooks.due where event_id = ${eventId} and endpoint_id = ${endpointId}`.execute(app.db.kysely)
}

const bad = (body: string) => /"resp_[1357]"/.test(body)

/** Eight events, newest last; every other one was refused and waits for its next attempt. */
async function mixed(kit: WebhooksKit): Promise<{ id: string; events: string[] }> {
  kit.sink.answer('/hook', (response, { body }) => response.writeHead(bad(body) ? 500 : 200).end('said so'))
  const { id } = await kit.endpoint('/hook')
  const events: string[] = []
  for (let n = 0; n < 8; n += 1) events.push(...(await kit.publish('response.completed', `resp_${n}`)))
  const settled = async () => (await all(kit, id)).every(({ attempts }) => attempts > 0)
  assert.ok(await becomesTrue(settled, boundMs))
  return { id, events }
}

test('deliveries are listed newest first over open and ended ones alike, page by page and by state', async (t) => {
  const kit = await webhooksKit(t)
  const { id, events } = await mixed(kit)
  await giveUp(kit, id, events[3] ?? '')
  const idsOf = (indexes: number[]) => indexes.map((index) => deliveryId(events[index] ?? '', id))
  const listed = await all(kit, id)
  assert.deepEqual(
    listed.map((delivery) => delivery.id),
    idsOf([7, 6, 5, 4, 3, 2, 1, 0]),
  )
  assert.deepEqual(
    listed.map(({ status }) => status),
    ['retrying', 'delivered', 'retrying', 'delivered', 'failed', 'delivered', 'retrying', 'delivered'],
  )
  const byState = { open: [7, 5, 1], delivered: [6, 4, 2, 0], failed: [3], discarded: [] }
  for (const [status, indexes] of Object.entries(byState)) {
    const found = await all(kit, id, { status })
    assert.deepEqual(
      found.map((delivery) => delivery.id),
      idsOf(indexes),
      status,
    )
  }
  const [newest] = listed
  assert.deepEqual(
    [newest?.event_id, newest?.event_type, newest?.last_status_code, newest?.last_error, newest?.ended_at],
    [events[7], 'response.completed', 500, 'status', null],
  )
  assert.ok((newest?.next_attempt_at ?? 0) > 0)
  const nobody = await kit.app.call(listWebhookDeliveries, {
    params: { webhook_endpoint_id: id },
    query: { after: 'whd_none' },
  })
  assert.deepEqual([nobody.status, nobody.error.param], [400, 'after'])
})

test('a delivery tells every attempt: when, where, what came back, and when the next one is', async (t) => {
  const kit = await webhooksKit(t)
  kit.sink.answer('/hook', (response) =>
    response.writeHead(503, { 'content-type': 'text/plain' }).end('é'.repeat(2_000)),
  )
  const { id } = await kit.endpoint('/hook')
  const [eventId = ''] = await kit.publish('response.completed', 'resp_1')
  const read = async () =>
    (await kit.app.call(retrieveWebhookDelivery, { params: { delivery_id: deliveryId(eventId, id) } })).body
  assert.equal((await read()).webhook_id, `wh_${eventId.slice(4)}`)
  assert.ok(await becomesTrue(async () => (await read()).attempts > 0, boundMs))
  const { payload, attempt_log: log, ...delivery } = await read()
  assert.deepEqual((payload as { data: unknown }).data, { id: 'resp_1' })
  const [first] = log
  assert.ok(first !== undefined)
  const { at, duration_ms: duration, next_attempt_at: next, response_start: start, ...rest } = first
  assert.deepEqual(rest, { number: 1, url: `${kit.sink.url}/hook`, status_code: 503, outcome: 'status' })
  assert.ok(Math.abs(at - Date.now() / 1_000) < 60 && duration >= 0)
  assert.ok(next !== null && next - at >= 4 && next - at <= 6, `next after ${(next ?? 0) - at} s`)
  assert.match(start ?? '', /^é{256}$/)
  assert.equal(delivery.status, 'retrying')
})

// S3-6-h
test('a redelivery carries the same webhook-id, and its attempts are numbered on', async (t) => {
  const kit = await webhooksKit(t)
  const { id, events } = await mixed(kit)
  const failed = events[1] ?? ''
  await giveUp(kit, id, failed)
  kit.sink.answer('/hook', (response) => response.writeHead(204).end())
  const params = { delivery_id: deliveryId(failed, id) }
  const again = await kit.app.call(redeliverWebhook, { params })
  assert.equal(again.status, 200, again.text)
  assert.ok(again.body.next_attempt_at !== null)
  const read = async () => (await kit.app.call(retrieveWebhookDelivery, { params })).body
  assert.ok(await becomesTrue(async () => (await read()).status === 'delivered', boundMs))
  const { attempt_log: log } = await read()
  assert.deepEqual(
    log.map(({ number, status_code: status }) => [number, status]),
    log.map((_attempt, index) => [index + 1, index + 1 < log.length ? 500 : 204]),
  )
  const arrived = kit.sink.received.filter(({ body }) => body.includes('"resp_1"'))
  assert.equal(arrived.length, log.length)
  assert.deepEqual([...new Set(arrived.map(({ headers }) => headers['webhook-id']))], [`wh_${failed.slice(4)}`])
  const failures = await all(kit, id, { status: 'failed' })
  assert.deepEqual(failures, [], 'what was delivered in the end is no failure any more')
})

test('a delivery of another project cannot be read or sent again', async (t) => {
  const kit = await webhooksKit(t)
  const { id } = await kit.endpoint('/hook')
  const [eventId = ''] = await kit.publish('response.completed', 'resp_1')
  const input = { params: { delivery_id: deliveryId(eventId, id) }, key: kit.app.other.key }
  assert.equal((await kit.app.call(retrieveWebhookDelivery, input)).status, 404)
  assert.equal((await kit.app.call(redeliverWebhook, input)).status, 404)
})
