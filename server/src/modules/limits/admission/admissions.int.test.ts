import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVectorStoreFileBatch } from '@switchyard/contracts/vector-stores.ts'
import { Fault } from '#platform/errors/fault.ts'
import { newRequestId } from '#platform/std/ids.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { standardBook, type LimitsBook } from '../domain/limits-book.ts'
import { createGate } from '../steps/gate.ts'
import { DecisionLog } from '../steps/decision-log.ts'
import { Policies } from '../steps/policies.ts'
import type { LimitsTables } from '../store/tables.ts'
import { limitedOrg, type LimitedOrg } from '../testing/rate-kit.ts'
import { Admissions } from './admissions.ts'
import { LocalBuckets } from './local-buckets.ts'
import { Settlements } from './settlements.ts'
import { ValkeyBuckets } from './valkey-buckets.ts'

const price = { inputPerMtok: 0, cachedInputPerMtok: 0, outputPerMtok: 0 }
const model = { aliases: [], family: 'pictures', contextWindow: 1_000, maxOutputTokens: 100, price }
const models = new Map(['draws', 'hears'].map((id) => [id, { ...model, id }]))

function bookOf(limits: Partial<LimitsBook['tiers']['tier_1']['limits']>): LimitsBook {
  const { tier_1: standard } = standardBook.tiers
  const tier1 = { ...standard, limits: { ...standard.limits, requestsPerMinute: 1_000, ...limits } }
  return { ...standardBook, tiers: { ...standardBook.tiers, tier_1: tier1 } }
}

/** The limiter by itself, on the services of an app: what no endpoint asks for yet. */
function limiterOf(app: TestApp, limits: Parameters<typeof bookOf>[0]) {
  const db = app.db.as<LimitsTables>()
  const { log, valkey } = app.wired
  const buckets = new ValkeyBuckets(valkey, `test-${newRequestId()}:`)
  const decisions = new DecisionLog({ db, log })
  const settlements = new Settlements({ buckets, decisions, log, settlesTokens: false })
  const book = bookOf(limits)
  const admissions = new Admissions({
    book,
    buckets,
    decisions,
    settlements,
    log,
    findModel: (name) => models.get(name) ?? null,
    policies: new Policies({ db, book, evaluate: async () => undefined }),
    local: new LocalBuckets(1),
    withoutValkey: 'refuse',
    begin: async () => ({ lost: false, levels: [], open: [] }),
    isReserved: async () => false,
    node: 'lnode_test',
  })
  return { admissions, settlements }
}

const charged = (org: LimitedOrg) => ({
  orgId: org.id,
  projectId: org.project.id,
  keyId: 'key_x',
  requestId: newRequestId(),
})

const estimate = (name: string, tokens = 1) => ({
  model: name,
  background: false,
  inputTokens: tokens,
  outputMax: null,
  tokens,
})

async function refusalOf(work: Promise<unknown>): Promise<Fault> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof Fault)
    return error
  }
  return assert.fail('it was let in')
}

test('the limiter counts what no endpoint asks for yet', async (t) => {
  const app = await testApp(t)

  // S3-1.3-b S3-2.5-e S3-2.5-g
  await t.test('images of a minute', async () => {
    const org = await limitedOrg(app, 'tier_1')
    const { admissions } = limiterOf(app, { imagesPerMinute: 5 })
    const draw = (images: number) =>
      admissions.admit({ charged: charged(org), operation: 'images', estimate: estimate('draws') }, { images })
    await draw(3)
    const { code, status, message } = await refusalOf(draw(3))
    assert.deepEqual([code, status], ['image_rate_limit_exceeded', 429])
    assert.match(message, /^Rate limit reached for draws .* on images per min \(IPM\): Limit 5, Used 3, Requested 3\./)
    await draw(2)
    const large = await refusalOf(draw(6))
    assert.deepEqual([large.code, large.retryAfterMs], ['request_above_limit', undefined])
    // Nothing of it is asked by who draws nothing.
    await admissions.admit({ charged: charged(org), operation: 'responses', estimate: estimate('draws') })
  })

  // S3-1.3-b S3-2.5-f
  await t.test('minutes of audio of a minute, and parts of them', async () => {
    const org = await limitedOrg(app, 'tier_1')
    const { admissions } = limiterOf(app, { audioMinutesPerMinute: 2 })
    const hear = (audioMinutes: number) =>
      admissions.admit({ charged: charged(org), operation: 'audio', estimate: estimate('hears') }, { audioMinutes })
    await hear(0.5)
    await hear(1.25)
    const { code, status, message, retryAfterMs } = await refusalOf(hear(0.5))
    assert.deepEqual([code, status], ['audio_rate_limit_exceeded', 429])
    assert.match(message, /on audio minutes per min: Limit 2, Used 2, Requested 0\.5\./)
    assert.ok((retryAfterMs ?? 0) > 6_000 && (retryAfterMs ?? 0) < 9_000, `${retryAfterMs}`)
  })

  await t.test('2,000 files a minute, attached by an organisation to any of its stores', async () => {
    const org = await limitedOrg(app, 'tier_1')
    const { admissions, settlements } = limiterOf(app, {})
    const gate = createGate(admissions)
    const attach = (store: string, files: number, projectId = org.project.id) => {
      const { orgId, keyId, requestId } = charged(org)
      const scope = { kind: 'project_key', orgId, projectId, keyId } as Parameters<typeof gate>[0]['scope']
      const body = { file_ids: Array.from({ length: files }, (_, at) => `file-${at}`) }
      return gate({ operation: createVectorStoreFileBatch, scope, params: { vector_store_id: store }, body, requestId })
    }
    const passed = []
    for (const at of [1, 2, 3, 4]) passed.push(await attach(`vs_${at}`, 500))
    const { code, message } = await refusalOf(attach('vs_5', 500, org.other.id))
    assert.equal(code, 'rate_limit_exceeded')
    assert.match(message, /on attached files per min: Limit 2000, Used \d{4}, Requested 500\./)
    passed[0]?.leave()
    await settlements.idle()
    await attach('vs_5', 500, org.other.id)
  })
})

// S3-7.2-b
test('who comes back when told to is let in, also when being refused has filled another bucket', async (t) => {
  const app = await testApp(t)
  const org = await limitedOrg(app, 'tier_1')
  const { admissions } = limiterOf(app, { requestsPerMinute: 20, tokensPerMinute: 6_000 })
  const send = (tokens: number) =>
    admissions.admit({ charged: charged(org), operation: 'responses', estimate: estimate('draws', tokens) })
  await Promise.all(Array.from({ length: 18 }, () => send(1)))
  await send(3_000)
  // The tokens are free within about a second. Being refused for them takes the last request of the minute, though.
  const { code, retryAfterMs = 0 } = await refusalOf(send(3_100))
  assert.equal(code, 'token_rate_limit_exceeded')
  assert.ok(retryAfterMs > 0 && retryAfterMs <= 4_000, `${retryAfterMs} ms`)
  await new Promise((resolve) => setTimeout(resolve, retryAfterMs))
  await send(3_100)
})
