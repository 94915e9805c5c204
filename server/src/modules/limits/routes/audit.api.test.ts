import type { AuditLog } from '@switchyard/contracts/organization/audit-logs.ts'
import { createPayment } from '@switchyard/contracts/organization/payments.ts'
import { updateProjectRateLimit } from '@switchyard/contracts/organization/project-rate-limits.ts'
import {
  deleteProjectSpendLimit,
  deleteSpendLimit,
  updateProjectSpendLimit,
  updateSpendLimit,
} from '@switchyard/contracts/organization/spend-limits.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditOf } from '#modules/orgs/testing/orgs-kit.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { pay } from '../testing/limits-kit.ts'

/** Oldest first: what happened to something, with the details. */
const told = (entries: readonly AuditLog[]) => entries.map((entry) => [entry.type, entry[entry.type]]).toReversed()

/** Those of the tier, after the one that the test app begins with. */
async function tierEntries(app: TestApp): Promise<AuditLog[]> {
  const entries = (await auditOf(app, app.org.id)).filter(({ type }) => type === 'usage_tier.updated')
  return entries.slice(0, -1)
}

test('limits of a project leave who set and who gave back which numbers, and nothing when refused', async (t) => {
  const app = await testApp(t)
  const params = { project_id: app.project.id, rate_limit_id: 'rl-double' }
  const set = { max_requests_per_1_minute: 20, max_tokens_per_1_minute: 1_000 }
  const update = (body: unknown) => app.call(updateProjectRateLimit, { params, body })
  const first = await update(set)
  assert.equal((await update({})).status, 200)
  assert.equal((await update({ max_images_per_1_minute: null })).status, 200, 'never set, so nothing is given back')
  assert.equal((await update({ max_requests_per_1_minute: 0 })).status, 400)
  await update({ max_requests_per_1_minute: null, max_tokens_per_1_minute: 900 })
  const entries = await auditOf(app, 'rl-double')
  assert.deepEqual(told(entries), [
    ['rate_limit.updated', { id: 'rl-double', changes_requested: set }],
    ['rate_limit.updated', { id: 'rl-double', changes_requested: { max_tokens_per_1_minute: 900 } }],
    ['rate_limit.deleted', { id: 'rl-double', fields: ['max_requests_per_1_minute'] }],
  ])
  const oldest = entries.at(-1)
  assert.deepEqual(
    [oldest?.project?.id, oldest?.actor?.type, oldest?.request_id],
    [app.project.id, 'api_key', first.headers.get('x-request-id')],
  )
})

test('spend limits leave that they were set, replaced and taken away, of the organisation or of a project', async (t) => {
  const app = await testApp(t)
  const limit = (threshold_amount: number) => ({ threshold_amount, currency: 'USD', interval: 'month' })
  await app.call(updateSpendLimit, { body: limit(500) })
  await app.call(updateSpendLimit, { body: limit(700) })
  await app.call(deleteSpendLimit)
  assert.equal((await app.call(deleteSpendLimit)).status, 404)
  const params = { project_id: app.project.id }
  await app.call(updateProjectSpendLimit, { params, body: limit(5) })
  await app.call(deleteProjectSpendLimit, { params })
  const ofSpend = async (id: string) => (await auditOf(app, id)).filter(({ type }) => type.startsWith('spend_limit.'))
  const { id } = app.org
  const whole = await ofSpend(id)
  assert.deepEqual(told(whole), [
    ['spend_limit.created', { id, data: limit(500) }],
    ['spend_limit.updated', { id, changes_requested: limit(700) }],
    ['spend_limit.deleted', { id }],
  ])
  assert.ok(whole.every(({ project, actor }) => project === undefined && actor?.type === 'api_key'))
  const inProject = await ofSpend(app.project.id)
  assert.deepEqual(told(inProject), [
    ['spend_limit.created', { id: app.project.id, data: limit(5) }],
    ['spend_limit.deleted', { id: app.project.id }],
  ])
  assert.ok(inProject.every(({ project }) => project?.id === app.project.id))
})

test('a payment and the tier it earns leave the key that recorded it, a tier that was set its operator', async (t) => {
  const app = await testApp(t)
  const { id } = app.org
  await app.wired.limits.pinTier(id, null)
  const body = { amount: 5, currency: 'usd', reference: 'invoice 1' }
  const paid = await app.call(createPayment, { body })
  assert.equal((await app.call(createPayment, { body })).status, 409)
  await app.wired.limits.pinTier(id, 'tier_1')
  await pay(app, 45)
  await app.wired.limits.pinTier(id, null)
  const entries = await tierEntries(app)
  const tier = (previous_tier: string, now: string, pinned: boolean) => [
    'usage_tier.updated',
    { id, previous_tier, tier: now, pinned },
  ]
  assert.deepEqual(told(entries), [
    tier('unlimited', 'free', false),
    tier('free', 'tier_1', false),
    tier('tier_1', 'tier_1', true),
    tier('tier_1', 'tier_2', false),
  ])
  const requestId = paid.headers.get('x-request-id')
  assert.deepEqual(entries.map(({ actor, request_id }) => [actor?.type, request_id]).toReversed(), [
    [undefined, null],
    ['api_key', requestId],
    [undefined, null],
    [undefined, null],
  ])
  const [payment, ...more] = await auditOf(app, paid.body.id)
  assert.deepEqual([payment?.['payment.created'], more], [{ id: paid.body.id, data: body }, []])
  assert.deepEqual([payment?.actor?.type, payment?.request_id], ['api_key', requestId])
})
