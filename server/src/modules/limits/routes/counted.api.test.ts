import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '../../../../test/test-app.ts'
import type { CallInput } from '../../../../test/call-operation.ts'
import { limitsFile } from '../testing/limits-kit.ts'
import {
  ask,
  askUntilRefused,
  explain,
  explainSettled,
  limitedOrg,
  rateOf,
  requestIdOf,
  usedBefore,
  type LimitedOrg,
} from '../testing/rate-kit.ts'

interface Failing {
  readonly body?: Record<string, unknown>
  readonly input?: CallInput
  readonly answer: readonly [status: number, code: string]
}

/** Requests that come to nothing, and what they are told. */
const failing: Readonly<Record<string, Failing>> = {
  'a body that is no JSON': { input: { body: '{"model":' }, answer: [400, 'invalid_json'] },
  'a body that is no object': { input: { body: '[]' }, answer: [400, 'invalid_type'] },
  'a type that is not read': {
    input: { body: 'x', headers: { 'content-type': 'text/plain' } },
    answer: [415, 'unsupported_media_type'],
  },
  'a model that there is not': { body: { model: 'nobody' }, answer: [404, 'model_not_found'] },
  'a name that cannot be kept': { body: { model: 'a\u0000b' }, answer: [400, 'invalid_value'] },
  'a name without an end': { body: { model: 'x'.repeat(100_000) }, answer: [400, 'string_above_max_length'] },
  'a field that there is not': { body: { colour: 'blue' }, answer: [400, 'unknown_parameter'] },
  'a value that is not allowed': { body: { temperature: 9 }, answer: [400, 'integer_above_max_value'] },
  'a previous response that there is not': {
    body: { previous_response_id: 'resp_none' },
    answer: [400, 'previous_response_not_found'],
  },
  'a provider that refuses': { body: { input: 'refuse this' }, answer: [502, 'provider_error'] },
}

test('requests that fail count towards the limit of a minute', async (t) => {
  const limits = { requests_per_minute: 2, requests_per_day: 100, tokens_per_minute: 200, tokens_per_day: 1_000 }
  const tiers = { tier_1: { limits }, tier_2: { limits: { ...limits, requests_per_minute: 20 } } }
  const app = await testApp(t, await limitsFile(t, { tiers }))
  app.double.decide((body) => {
    const text = JSON.stringify(body['messages'])
    return text.includes('refuse') ? { status: 400 } : 'Yes.'
  })
  const send = (org: LimitedOrg, { body = {}, input = {} }: Failing) =>
    ask(app, org, { max_output_tokens: 100, ...body }, input)

  // S3-7.2-c
  for (const [what, request] of Object.entries(failing)) {
    await t.test(`${what}: counted, and the rest of what it took is given back`, async () => {
      const org = await limitedOrg(app, 'tier_1')
      for (const left of [1, 0]) {
        const reply = await send(org, request)
        assert.deepEqual([reply.status, reply.error.code], request.answer, reply.text)
        assert.equal(rateOf(reply).requests?.remaining, left)
        const why = await explainSettled(app, org, requestIdOf(reply))
        assert.deepEqual(
          why.settlements.map(({ kind, reservation }) => [kind, reservation]),
          [['released', requestIdOf(reply)]],
        )
        assert.deepEqual(why.usage, [])
        const { RPM: minute = -1, ...rest } = usedBefore(why)
        assert.ok(left === 1 ? minute === 0 : minute > 0.5, `${minute} requests before`)
        const spend = Object.values(rest)
        assert.ok(
          spend.every((used) => used === 0),
          JSON.stringify(rest),
        )
      }
      const refused = await send(org, request)
      assert.deepEqual([refused.status, refused.error.code], [429, 'rate_limit_exceeded'], refused.text)
    })
  }

  await t.test('one that nobody is known to have sent does not count', async () => {
    const org = await limitedOrg(app, 'tier_1')
    for (const key of [null, 'sk-proj-nobody', org.adminKey]) {
      const reply = await ask(app, org, {}, { key })
      assert.equal(reply.status, 401)
      assert.deepEqual(rateOf(reply), { requests: null, tokens: null })
    }
    assert.equal(rateOf(await ask(app, org)).requests?.remaining, 1)
  })

  // S3-7.2-c
  await t.test('one that is refused counts as well: who never stops asking is never let in', async () => {
    const org = await limitedOrg(app, 'tier_2')
    const { admitted, refused } = await askUntilRefused(app, org)
    // Three seconds free one request: somebody who asks in between does not get it.
    const until = performance.now() + 4_000
    let last = requestIdOf(refused)
    while (performance.now() < until) {
      const reply = await ask(app, org)
      assert.equal(reply.status, 429)
      last = requestIdOf(reply)
    }
    const { RPD, TPD, RPM } = usedBefore(await explain(app, org, last))
    assert.ok((RPM ?? 0) > 19, `${RPM} requests in the minute`)
    assert.ok((RPD ?? 99) <= admitted.length && (TPD ?? 9_999) <= 2 * admitted.length, 'nothing else was taken')
  })

  await t.test('a request whose client leaves counts, and what the model had said is charged', async () => {
    const org = await limitedOrg(app, 'tier_1')
    app.double.queue({ text: 'one two three four five six', after: 4, trouble: 'hang' })
    const leave = new AbortController()
    const body = { model: 'double-chat', messages: [{ role: 'user', content: 'Go on.' }], stream: true }
    const reply = await fetch(`${app.baseUrl}${createChatCompletion.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${org.project.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: leave.signal,
    })
    await reply.body?.getReader().read()
    leave.abort()
    const why = await explainSettled(app, org, requestIdOf(reply))
    assert.deepEqual(
      why.settlements.map(({ kind }) => kind),
      ['settled'],
    )
    assert.deepEqual(
      why.usage.map(({ outcome }) => outcome),
      ['interrupted'],
    )
    assert.ok((why.usage[0]?.input_tokens ?? 0) > 0 && (why.usage[0]?.output_tokens ?? 0) > 0)
    assert.equal(rateOf(await ask(app, org)).requests?.remaining, 0)
  })
})
