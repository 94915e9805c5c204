import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { explainLimits } from '@switchyard/contracts/organization/limits-explain.ts'
import { createResponse } from '@switchyard/contracts/responses/operations.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitedApp } from '../testing/limited-app.ts'

const ask = { model: 'double-chat', input: 'Say something.' }

test('a request over the limit is refused with the limit that bound, and told when to come back', async (t) => {
  // S3-7.2-a, S3-2.5-a, S3-8.8-a, S3-8.8-b, S3-8.8-c, S3-8.8-d, S3-8.8-e, S3-8.8-f
  const app = await limitedApp(t, { requests_per_minute: 2, tokens_per_minute: 1_000 })
  const first = await app.call(createResponse, { body: ask })
  assert.equal(first.status, 200)
  assert.equal(first.headers.get('x-ratelimit-limit-requests'), '2')
  assert.equal(first.headers.get('x-ratelimit-remaining-requests'), '1')
  assert.equal(first.headers.get('x-ratelimit-reset-requests'), '30s')
  assert.equal(first.headers.get('x-ratelimit-limit-tokens'), '1000')
  assert.equal(first.headers.get('x-ratelimit-remaining-tokens'), '996')
  assert.equal((await app.call(createResponse, { body: ask })).status, 200)
  const refused = await app.call(createResponse, { body: ask })
  assert.equal(refused.status, 429)
  assert.equal(refused.error.code, 'rate_limit_exceeded')
  assert.equal(refused.error.type, 'requests')
  assert.match(
    refused.error.message,
    /^Rate limit reached for double-chat in organization org-\w+ on requests per min \(RPM\): Limit 2, Used 2, Requested 1\. Please try again in /,
  )
  assert.equal(refused.headers.get('x-ratelimit-remaining-requests'), '0')
  assert.equal(refused.headers.get('x-should-retry'), 'true')
  assert.ok(Number(refused.headers.get('retry-after-ms')) >= 29_000)
  const requestId = refused.headers.get('x-request-id') ?? ''
  const why = await app.call(explainLimits, { query: { request_id: requestId } })
  assert.equal(why.status, 200)
  assert.match(why.body.summary, /^Refused: RPM of the organization stood at 2 of 2/)
})

test('what a request used is in the ledger, and settled', async (t) => {
  const app = await limitedApp(t, { requests_per_minute: 100, tokens_per_minute: 10_000 })
  for (const body of [ask, { ...ask, store: false }]) {
    const reply = await app.call(createResponse, { body })
    assert.equal(reply.status, 200)
    await settled(app, reply.headers.get('x-request-id') ?? '', reply.body.usage?.total_tokens ?? -1)
  }
  const chat = { model: 'double-chat', messages: [{ role: 'user', content: 'Hello.' }] }
  const reply = await app.call(createChatCompletion, { body: chat })
  await settled(app, reply.headers.get('x-request-id') ?? '', reply.body.usage?.total_tokens ?? -1)
})

async function settled(app: Awaited<ReturnType<typeof limitedApp>>, requestId: string, tokens: number): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const { body } = await app.call(explainLimits, { query: { request_id: requestId } })
    if (body.settlements.length > 0) {
      assert.deepEqual(
        body.settlements.map((one) => [one.kind, one.tokens]),
        [['settled', tokens]],
      )
      assert.equal(body.usage.length, 1)
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.fail(`request ${requestId} was not settled`)
}
