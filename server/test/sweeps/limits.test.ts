import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import { operations } from '@switchyard/contracts/operations.ts'
import type { Operation } from '@switchyard/contracts/operation.ts'
import { limitsFile } from '#modules/limits/testing/limits-kit.ts'
import { limitedOrg, onlyLimits, rateOf, type LimitedOrg } from '#modules/limits/testing/rate-kit.ts'
import { callOperation } from '../call-operation.ts'
import { testApp, type TestApp } from '../test-app.ts'

interface Sample {
  /** What the operation answers with this status. */
  readonly body: object
  readonly status: number
  readonly wrong: object
}

const model = 'double-chat'
const sample = (body: object, status = 200): Sample => ({ body, status, wrong: { ...body, colour: 'blue' } })

/** A request of every limited operation. One that is added without a sample fails the sweep. */
const samples: Readonly<Record<string, Sample>> = {
  'responses.create': sample({ model, input: 'Hello.' }),
  'responses.compact': sample({ model, input: 'Hello.' }),
  'chat.completions.create': sample({ model, messages: [{ role: 'user', content: 'Hello.' }] }),
  'completions.create': sample({ model, prompt: 'Hello.' }),
  'vector_stores.files.create': sample({ file_id: 'file-a' }, 501),
  'vector_stores.file_batches.create': sample({ file_ids: ['file-a'] }, 501),
}

const limited = operations.filter((operation: Operation) => operation.limited !== undefined)
const origin = 'https://dashboard.example'
/** The store's own rule, whatever the tier. */
const storeRequestsPerMinute = 300
const modelRequestsPerMinute = 12
const triesMax = 2 * storeRequestsPerMinute

async function send(app: TestApp, org: LimitedOrg, operation: Operation, body: unknown) {
  const params = { vector_store_id: 'vs_a' }
  const input = { params, body, key: org.project.key, headers: { origin } }
  const reply = await callOperation(app.baseUrl, operation, input)
  const { requests, tokens } = rateOf(reply)
  assert.ok(requests !== null, `${operation.id} says nothing of its requests: ${reply.status} ${reply.text}`)
  const exposed = new Set(reply.headers.get('access-control-expose-headers')?.split(', '))
  const shown = [...reply.headers.keys()].filter((name) => /^(x-ratelimit|retry-after|x-should-retry)/.test(name))
  assert.deepEqual(
    shown.filter((name) => !exposed.has(name)),
    [],
    'a browser may read them all',
  )
  return { ...reply, requests, tokens, at: performance.now() }
}

type Sent = Awaited<ReturnType<typeof send>>

/**
 * What the headers of a reply say of the next request's fate. The reset says to the millisecond how full the bucket is;
 * between two requests some of it may become free, and with it the one that decides.
 */
function agrees({ requests: { limit, remaining, resetMs }, at }: Sent, next: Sent, about: string): void {
  const perMs = limit / 60_000
  const free = limit - resetMs * perMs
  assert.ok(Math.abs(remaining - Math.floor(free + perMs + 1e-6)) <= 1, `${about}: ${remaining} left, ${free} free`)
  const admitted = next.status !== 429
  if (remaining >= 1) assert.ok(admitted, `${about}: ${remaining} were left, and it was refused`)
  else if (free + (next.at - at + 50) * perMs < 1) assert.ok(!admitted, `${about}: nothing was left, and it was let in`)
}

async function sweepOne(app: TestApp, operation: Operation, { body, status, wrong }: Sample): Promise<void> {
  const org = await limitedOrg(app, 'tier_1')
  const ofStore = operation.limited === 'vector_store'
  const limit = ofStore ? storeRequestsPerMinute : modelRequestsPerMinute
  const first = await send(app, org, operation, body)
  assert.deepEqual(
    [first.status, first.requests.limit, first.requests.remaining],
    [status, limit, limit - 1],
    first.text,
  )
  if (ofStore) assert.equal(first.tokens, null, 'no limit of tokens, no headers of one')
  else assert.deepEqual([first.tokens?.limit, (first.tokens?.remaining ?? 0) < 50_000], [50_000, true])
  const refusedBody = await send(app, org, operation, wrong)
  assert.equal(refusedBody.status, 400, refusedBody.text)
  assert.equal(refusedBody.tokens === null, ofStore)
  let last = refusedBody
  for (let tries = 0; last.status !== 429 && tries < triesMax; tries += 1) {
    const next = await send(app, org, operation, body)
    agrees(last, next, operation.id)
    last = next
  }
  assert.deepEqual([last.status, last.requests.remaining, last.tokens === null], [429, 0, ofStore], last.text)
  assert.equal(last.headers.get('x-should-retry'), 'true')
  const waitMs = Number(last.headers.get('retry-after-ms'))
  assert.equal(last.headers.get('retry-after'), String(Math.ceil(waitMs / 1_000)))
  assert.ok(waitMs > 0 && waitMs < 60_000, `${waitMs} ms`)
  await after(waitMs)
  assert.equal((await send(app, org, operation, body)).status, status, `${operation.id} after ${waitMs} ms`)
}

const tiers = { tier_1: onlyLimits({ requests_per_minute: modelRequestsPerMinute, tokens_per_minute: 50_000 }) }
const sweptApp = async (t: TestContext) =>
  await testApp(t, { ...(await limitsFile(t, { tiers })), SWITCHYARD_HTTP_CORS_ORIGINS: origin })

// S3-8.8-a S3-8.8-b S3-8.8-c S3-8.8-d S3-8.8-e S3-8.8-f S3-7.2-a S3-7.2-b
test('every limited operation shows its limits on success, refusal and 429, and keeps what they promise', async (t) => {
  assert.deepEqual(limited.map(({ id }) => id).toSorted(), Object.keys(samples).toSorted())
  const app = await sweptApp(t)
  const swept = limited.map(async (operation) => {
    const found = samples[operation.id]
    assert.ok(found !== undefined, operation.id)
    await sweepOne(app, operation, found)
  })
  await Promise.all(swept)
})
