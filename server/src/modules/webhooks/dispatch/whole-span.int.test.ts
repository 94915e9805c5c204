import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  listWebhookDeliveries,
  resumeWebhookEndpoint,
  retrieveWebhookEndpoint,
} from '@switchyard/contracts/webhooks.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { spanMs } from '../domain/schedule.ts'
import { webhooksKit, type WebhooksKit } from '../testing/webhooks-kit.ts'

const boundMs = 30_000
const minute = 60_000
const nominalWaits = [5_000, 30_000, 2 * minute, 10 * minute, 30 * minute, 60 * minute, 120 * minute, 240 * minute]
const lastWait = 480 * minute
/** How late an attempt may begin on a busy machine. */
const lateMs = 5_000
/** Attempts are begun by PostgreSQL's clock and noted by our estimate of it, which is off by half of a slow look at most. */
const clockErrorMs = 500

interface Attempt {
  number: number
  at: Date
  duration_ms: number
  next_at: Date | null
  ended: string | null
  outcome: string
}

async function attemptsOf({ app }: WebhooksKit, endpointId: string, eventId: string): Promise<Attempt[]> {
  const { rows } = await sql<Attempt>`select number, at, duration_ms, next_at, ended, outcome from webhooks.attempt
    where event_id = ${eventId} and endpoint_id = ${endpointId} order by number`.execute(app.db.kysely)
  return rows
}

const statusesOf = async ({ app }: WebhooksKit, id: string) =>
  (await app.call(listWebhookDeliveries, { params: { webhook_endpoint_id: id } })).body.data.map(({ status }) => status)

// They wait nearly all of the time, and each has an app of its own.
describe('over the whole span', { concurrency: true }, () => {
  // S3-6-d S3-6-f
  test('a dead endpoint is tried over the whole 72 hours, here within a minute, and then the delivery has failed', async (t) => {
    const scale = 0.0002
    const kit = await webhooksKit(t, { SWITCHYARD_WEBHOOKS_TIME_SCALE: String(scale) })
    kit.sink.answer('/dead', (response) => response.writeHead(503).end())
    const { id } = await kit.endpoint('/dead')
    const [eventId = ''] = await kit.publish('response.completed', 'resp_1')
    assert.ok(await becomesTrue(async () => (await statusesOf(kit, id)).join() === 'failed', spanMs * scale + boundMs))
    const attempts = await attemptsOf(kit, id, eventId)
    const first = attempts[0]?.at.getTime() ?? 0
    const end = first + spanMs * scale
    const hoursOf = (ms: number) => (ms / scale / 3_600_000).toFixed(2)
    t.diagnostic(attempts.map(({ at }) => `+${hoursOf(at.getTime() - first)} h`).join(', '))
    assert.ok(attempts.length >= 15 && attempts.length <= 20, `${attempts.length} attempts`)
    for (const [index, { at, duration_ms: duration, next_at: next, ended }] of attempts.entries()) {
      const following = attempts[index + 1]
      if (following === undefined) {
        assert.deepEqual([next, ended], [null, 'failed'])
        assert.ok(at.getTime() <= end + lateMs && at.getTime() >= end - lastWait * scale)
        continue
      }
      assert.ok(next !== null && ended === null)
      const wait = next.getTime() - at.getTime() - duration
      const nominal = (nominalWaits[index] ?? lastWait) * scale
      const clipped = next.getTime() >= end - 2
      assert.ok(clipped || (wait >= nominal * 0.9 - 10 && wait <= nominal * 1.1 + 250), `wait ${index} was ${wait} ms`)
      const late = following.at.getTime() - next.getTime()
      assert.ok(late >= -clockErrorMs && late < lateMs, `attempt ${following.number} began ${late} ms late`)
    }
    assert.equal(new Set(kit.sink.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  })

  test('Retry-After postpones one attempt, and never beyond the 72 hours', async (t) => {
    const scale = 0.00005
    const kit = await webhooksKit(t, { SWITCHYARD_WEBHOOKS_TIME_SCALE: String(scale) })
    let asked = 0
    kit.sink.answer('/busy', (response) => {
      asked += 1
      response.writeHead(429, { 'retry-after': asked === 1 ? '2' : '3600' }).end()
    })
    const { id } = await kit.endpoint('/busy')
    const [eventId = ''] = await kit.publish('response.completed', 'resp_1')
    assert.ok(await becomesTrue(async () => (await statusesOf(kit, id)).join() === 'failed', spanMs * scale + boundMs))
    const attempts = await attemptsOf(kit, id, eventId)
    const [first, second, third] = attempts
    assert.equal(attempts.length, 3)
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    assert.ok(second.at.getTime() - first.at.getTime() >= 2_000)
    const atEnd = (second.next_at?.getTime() ?? 0) - first.at.getTime() - spanMs * scale
    assert.ok(Math.abs(atEnd) < 50, `the last attempt was set ${atEnd} ms off the end`)
    assert.equal(third.ended, 'failed')
  })

  test('an endpoint that fails without a break for 72 hours is disabled, its project is told, and nothing young is dropped', async (t) => {
    const scale = 0.0001
    const span = spanMs * scale
    const kit = await webhooksKit(t, { SWITCHYARD_WEBHOOKS_TIME_SCALE: String(scale) })
    kit.sink.answer('/dead', (response) => response.writeHead(500).end())
    const { id } = await kit.endpoint('/dead')
    await kit.endpoint('/operators', ['webhook_endpoint.disabled'])
    const endpoint = async () =>
      (await kit.app.call(retrieveWebhookEndpoint, { params: { webhook_endpoint_id: id } })).body
    await kit.publish('response.completed', 'resp_old')
    assert.ok(await becomesTrue(async () => (await endpoint()).failing_since !== null, boundMs))
    const began = performance.now()
    assert.ok(await becomesTrue(() => performance.now() - began > span * 0.6, span))
    const [young = ''] = await kit.publish('response.completed', 'resp_young')
    assert.ok(await becomesTrue(async () => (await endpoint()).status === 'disabled', span + boundMs))
    const lasted = performance.now() - began
    assert.ok(lasted >= span - 200, `disabled after ${((72 * lasted) / span).toFixed(1)} scaled hours`)
    t.diagnostic(`disabled ${((72 * lasted) / span).toFixed(1)} scaled hours after the first failure was noted`)
    assert.match((await endpoint()).disabled_reason ?? '', /72 hours/)
    const [ended] = (await attemptsOf(kit, id, young)).filter((attempt) => attempt.ended !== null)
    assert.equal(ended, undefined, 'the young delivery still has time')
    const told = () => kit.sink.received.find(({ path }) => path === '/operators')
    assert.ok(await becomesTrue(() => told() !== undefined, boundMs))
    const event = JSON.parse(told()?.body ?? '{}') as { id: string; type: string; data: { id: string } }
    assert.deepEqual([event.type, event.data.id], ['webhook_endpoint.disabled', id])
    const { rows } = await sql<{ same: boolean }>`
      select p.xmin = e.xmin as same from webhooks.endpoint p, webhooks.event e
      where p.id = ${id} and e.id = ${event.id}`.execute(kit.app.db.kysely)
    assert.equal(rows[0]?.same, true, 'the news and the change are one transaction')
    kit.sink.answer('/dead', (response) => response.writeHead(200).end())
    const resumed = await kit.app.call(resumeWebhookEndpoint, { params: { webhook_endpoint_id: id } })
    assert.deepEqual([resumed.body.status, resumed.body.failing_since], ['active', null])
    const arrived = async () => (await attemptsOf(kit, id, young)).at(-1)?.ended === 'delivered'
    assert.ok(await becomesTrue(arrived, span))
  })

  // S3-6-e
  test('no answer within a few seconds is a failure, and the attempt says so', async (t) => {
    const kit = await webhooksKit(t)
    kit.sink.answer('/silent', () => undefined)
    const { id } = await kit.endpoint('/silent')
    const [eventId = ''] = await kit.publish('response.completed', 'resp_1')
    assert.ok(await becomesTrue(async () => (await attemptsOf(kit, id, eventId)).length > 0, boundMs))
    const [attempt] = await attemptsOf(kit, id, eventId)
    assert.equal(attempt?.outcome, 'timed_out')
    assert.ok(attempt.duration_ms >= 4_900 && attempt.duration_ms < 10_000, `${attempt.duration_ms} ms`)
  })
})
