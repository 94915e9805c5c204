import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import {
  deleteWebhookEndpoint,
  pauseWebhookEndpoint,
  resumeWebhookEndpoint,
  retrieveWebhookDelivery,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from '@switchyard/contracts/webhooks.ts'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { deliveryId } from '../domain/delivery-id.ts'
import type { Received } from '../testing/sink.ts'
import { webhooksKit, type WebhooksKit } from '../testing/webhooks-kit.ts'

const boundMs = 30_000
/** What an attempt knows of its endpoint is never older than this, on however busy a machine. */
const staleMs = 2_000
/** One request at a time; retries come after milliseconds, the end of the span after three minutes. */
const settings = { SWITCHYARD_WEBHOOKS_ENDPOINT_CONCURRENCY: '1', SWITCHYARD_WEBHOOKS_TIME_SCALE: '0.0007' }

const of = (id: string) => ({ params: { webhook_endpoint_id: id } })

/** Passes the time after which every worker knows of a change that was just made. */
async function beKnown(): Promise<void> {
  const changed = performance.now()
  await becomesTrue(() => performance.now() - changed > staleMs, 2 * staleMs)
}

interface Held {
  readonly id: string
  readonly events: string[]
  readonly secret: string
  /** Answers the request that is held, and from now on every one at once. */
  release(status: number): void
}

/** A receiver that has the first request and does not answer yet. */
async function holding(kit: WebhooksKit, path: string): Promise<Held> {
  const held: ServerResponse[] = []
  kit.sink.answer(path, (response) => void held.push(response))
  const { id, signing_secret: secret } = await kit.endpoint(path)
  const events = await kit.publish('response.completed', 'resp_0', 'resp_1', 'resp_2')
  assert.ok(await becomesTrue(() => held.length > 0, boundMs))
  return {
    id,
    events,
    secret,
    release(status) {
      kit.sink.answer(path, (response) => response.writeHead(200).end())
      for (const response of held) response.writeHead(status).end()
    },
  }
}

const deliveryOf = async ({ app }: WebhooksKit, endpointId: string, eventId: string) =>
  (await app.call(retrieveWebhookDelivery, { params: { delivery_id: deliveryId(eventId, endpointId) } })).body

async function statusesOf(kit: WebhooksKit, { id, events }: { id: string; events: string[] }): Promise<string[]> {
  return await Promise.all(events.map(async (eventId) => (await deliveryOf(kit, id, eventId)).status))
}

/** The event whose request is held. */
const inFlight = (kit: WebhooksKit) => (JSON.parse(kit.sink.received[0]?.body ?? '{}') as { id: string }).id

const become = async (kit: WebhooksKit, of: { id: string; events: string[] }, first: string, rest: string) => {
  const firstId = inFlight(kit)
  const expected = of.events.map((id) => (id === firstId ? first : rest)).join()
  return await becomesTrue(async () => (await statusesOf(kit, of)).join() === expected, boundMs)
}

test('deleted while a request is in flight: that one ends as it does, the others are discarded', async (t) => {
  const kit = await webhooksKit(t, settings)
  const held = await holding(kit, '/hook')
  await kit.app.call(deleteWebhookEndpoint, of(held.id))
  await beKnown()
  held.release(200)
  assert.ok(await become(kit, held, 'delivered', 'discarded'), (await statusesOf(kit, held)).join())
  assert.equal(kit.sink.received.length, 1)
  const { attempt_log: log } = await deliveryOf(kit, held.id, inFlight(kit))
  assert.deepEqual(
    log.map(({ status_code: status, outcome }) => [status, outcome]),
    [[200, 'delivered']],
  )
})

test('paused while a request is in flight: that one ends as it does, all else waits for the way back', async (t) => {
  const kit = await webhooksKit(t, settings)
  const held = await holding(kit, '/hook')
  await kit.app.call(pauseWebhookEndpoint, of(held.id))
  await beKnown()
  held.release(500)
  assert.ok(await become(kit, held, 'retrying', 'pending'), (await statusesOf(kit, held)).join())
  const { next_attempt_at: next } = await deliveryOf(kit, held.id, inFlight(kit))
  assert.ok(await becomesTrue(() => Date.now() / 1_000 > (next ?? Infinity) + 1, boundMs))
  assert.equal(kit.sink.received.length, 1, 'nothing is sent although it is due')
  await kit.app.call(resumeWebhookEndpoint, of(held.id))
  assert.ok(await become(kit, held, 'delivered', 'delivered'))
})

test('disabled while a request is in flight: as a pause, until it is resumed', async (t) => {
  const kit = await webhooksKit(t, settings)
  const held = await holding(kit, '/hook')
  await sql`update webhooks.endpoint set status = 'disabled', disabled_reason = 'test' where id = ${held.id}`.execute(
    kit.app.db.kysely,
  )
  await beKnown()
  held.release(200)
  assert.ok(await become(kit, held, 'delivered', 'pending'), (await statusesOf(kit, held)).join())
  const resumed = await kit.app.call(resumeWebhookEndpoint, of(held.id))
  assert.deepEqual([resumed.body.status, resumed.body.disabled_reason], ['active', null])
  assert.ok(await become(kit, held, 'delivered', 'delivered'))
})

test('moved while a request is in flight: its next attempt, and all else, goes to the new address', async (t) => {
  const kit = await webhooksKit(t, settings)
  const held = await holding(kit, '/old')
  await kit.app.call(updateWebhookEndpoint, { ...of(held.id), body: { url: `${kit.sink.url}/new` } })
  const changed = performance.now()
  held.release(500)
  assert.ok(await become(kit, held, 'delivered', 'delivered'))
  const { attempt_log: log } = await deliveryOf(kit, held.id, inFlight(kit))
  assert.deepEqual([log[0]?.url, log[0]?.status_code], [`${kit.sink.url}/old`, 500])
  // New ones again and again: after the change was seen, none goes to the old address any more.
  const upTo = performance.now() + staleMs
  while (performance.now() < upTo) {
    const before = kit.sink.received.length
    await kit.publish('response.completed', 'resp_later')
    assert.ok(await becomesTrue(() => kit.sink.received.length > before, boundMs))
  }
  const old = kit.sink.received.filter(({ path }) => path === '/old')
  const lastOld = Math.max(...old.map(({ at }) => at - changed))
  assert.ok(lastOld < staleMs, `the old address was used ${lastOld} ms after the change`)
  t.diagnostic(`last use of the old address: ${Math.max(0, lastOld).toFixed(0)} ms after the change`)
  assert.equal(kit.sink.received.at(-1)?.path, '/new')
})

const signedBy = (secret: string, { headers, body }: Received): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

test('rotated while a request is in flight: it was signed with the old secret, its next attempt is with the new', async (t) => {
  const kit = await webhooksKit(t, settings)
  const held = await holding(kit, '/hook')
  const { body: rotated } = await kit.app.call(rotateWebhookSecret, of(held.id))
  const changed = performance.now()
  held.release(500)
  assert.ok(await become(kit, held, 'delivered', 'delivered'))
  const [first, ...later] = kit.sink.received
  assert.ok(first !== undefined && signedBy(held.secret, first) && !signedBy(rotated.signing_secret, first))
  await kit.publish('response.completed', 'resp_last')
  assert.ok(await becomesTrue(() => kit.sink.received.length > later.length + 1, boundMs))
  for (const received of later.filter(({ at }) => at - changed > staleMs))
    assert.ok(signedBy(rotated.signing_secret, received) && !signedBy(held.secret, received))
})

// S3-5.3
test('during an overlap both secrets verify what arrives; after it only the new one does', async (t) => {
  const kit = await webhooksKit(t)
  const made = await kit.endpoint('/hook')
  const { body: rotated } = await kit.app.call(rotateWebhookSecret, {
    ...of(made.id),
    body: { keep_old_secret_active_for_24_hours: true },
  })
  const verdicts = async (): Promise<boolean[]> => {
    const before = kit.sink.received.length
    await kit.publish('response.completed', 'resp_1')
    assert.ok(await becomesTrue(() => kit.sink.received.length > before, boundMs))
    const received = kit.sink.received.at(-1)
    assert.ok(received !== undefined)
    return [made.signing_secret, rotated.signing_secret].map((secret) => signedBy(secret, received))
  }
  assert.deepEqual(await verdicts(), [true, true])
  await sql`update webhooks.secret set active_until = clock_timestamp() where active_until is not null`.execute(
    kit.app.db.kysely,
  )
  assert.ok(await becomesTrue(async () => (await verdicts()).join() === 'false,true', boundMs))
})
