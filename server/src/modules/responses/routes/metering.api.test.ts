import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { createCompletion } from '@switchyard/contracts/completions.ts'
import { compactResponse, retrieveResponse } from '@switchyard/contracts/responses/operations.ts'
import { limitsFile } from '#modules/limits/testing/limits-kit.ts'
import {
  ask,
  explain,
  explainSettled,
  limitedOrg,
  limitRefusal,
  onlyLimits,
  rateOf,
  requestIdOf,
  usedBefore,
  type LimitedOrg,
} from '#modules/limits/testing/rate-kit.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { ownWorker } from '../../../../test/own-worker.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'

const boundMs = 30_000

async function ended(app: TestApp, org: LimitedOrg, response_id: string): Promise<string> {
  let status = ''
  const over = async () => {
    status = (await app.call(retrieveResponse, { params: { response_id }, key: org.project.key })).body.status ?? ''
    return status !== 'queued' && status !== 'in_progress'
  }
  assert.ok(await becomesTrue(over, boundMs), status)
  return status
}

type Way = (app: TestApp, org: LimitedOrg) => Promise<string>

const charge = 500
const text = 'x'.repeat(4 * charge)
const responded =
  (body: Record<string, unknown>): Way =>
  async (app, org) => {
    const reply = await ask(app, org, { max_output_tokens: charge, ...body })
    assert.equal(reply.status, 200, reply.text)
    if (body['background'] === true && body['stream'] !== true) await ended(app, org, reply.body.id)
    return requestIdOf(reply)
  }
const called =
  (operation: typeof createChatCompletion | typeof createCompletion | typeof compactResponse, body: object): Way =>
  async (app, { project: { key } }) => {
    const reply = await app.call(operation, { body: { model: 'double-chat', ...body }, key })
    assert.equal(reply.status, 200, reply.text)
    return requestIdOf(reply)
  }
const chat = { messages: [{ role: 'user', content: 'Hello.' }], max_completion_tokens: charge }

/** Every way to call a model once, each charged 500 tokens when it is let in. */
const ways: Readonly<Record<string, Way>> = {
  stored: responded({}),
  'not stored': responded({ store: false }),
  streamed: responded({ stream: true }),
  'streamed and not stored': responded({ stream: true, store: false }),
  'in the background': responded({ background: true }),
  'in the background, streamed': responded({ background: true, stream: true }),
  compacted: called(compactResponse, { input: text }),
  'a chat completion': called(createChatCompletion, chat),
  'a chat completion, streamed': called(createChatCompletion, { ...chat, stream: true }),
  'a completion of one prompt': called(createCompletion, { prompt: 'Hello.', max_tokens: charge }),
  'a completion, streamed': called(createCompletion, { prompt: 'Hello.', max_tokens: charge, stream: true }),
}

for (const settling of [false, true]) {
  // S3-8.7
  test(`every way to call a model is charged once and settled once, tokens ${settling ? 'to what was used' : 'as estimated'}`, async (t) => {
    const settings = { SWITCHYARD_LIMITS_SETTLE_TOKENS: String(settling) }
    const file = await limitsFile(t, { tiers: { tier_1: onlyLimits({ tokens_per_day: 10_000 }) } })
    const app = await testApp(t, { ...file, ...(await ownWorker()), ...settings }, ['api', 'worker'])
    const send = async (way: Way, org: LimitedOrg, input: number, output: number) => {
      app.double.decide(() => ({ text: 'one two', usage: { input, output } }))
      const id = await way(app, org)
      const why = await explainSettled(app, org, id)
      assert.deepEqual(
        why.decisions.map(({ kind, tokens_charged }) => [kind, tokens_charged]),
        [['admitted', charge]],
      )
      const cost_nanos = input * 1_000 + output * 4_000
      assert.deepEqual(
        why.settlements.map((one) => [one.kind, one.reservation, one.tokens, one.cost_nanos, one.swept]),
        [['settled', id, input + output, cost_nanos, false]],
      )
      assert.deepEqual(
        why.usage.map((one) => [one.outcome, one.input_tokens, one.output_tokens, one.cost_nanos]),
        [['completed', input, output, cost_nanos]],
      )
    }
    for (const [name, way] of Object.entries(ways)) {
      await t.test(name, async () => {
        const org = await limitedOrg(app, 'tier_1')
        await send(way, org, 30, 20)
        await send(way, org, 900, 300)
        const probe = await explain(app, org, requestIdOf(await ask(app, org, { max_output_tokens: 16 })))
        const { TPD: used = 0, spend } = usedBefore(probe)
        const expected = settling ? 50 + 1_200 : 2 * charge
        // A day of 10,000 tokens gives one back every nine seconds.
        assert.ok(used <= expected && used > expected - 5, `${used} instead of ${expected}`)
        assert.equal(spend, 930 * 1_000 + 320 * 4_000)
      })
    }
  })
}

test('corrected to what was used, a bucket may be fuller than its limit, and nothing is let in until it is not', async (t) => {
  const file = await limitsFile(t, { tiers: { tier_1: onlyLimits({ tokens_per_day: 1_000 }) } })
  const app = await testApp(t, { ...file, SWITCHYARD_LIMITS_SETTLE_TOKENS: 'true' })
  const org = await limitedOrg(app, 'tier_1')
  app.double.queue({ text: 'Yes.', usage: { input: 1_000, output: 200 } })
  const first = await ask(app, org, { max_output_tokens: 500 })
  assert.equal(rateOf(first).tokens?.remaining, 500)
  await explainSettled(app, org, requestIdOf(first))
  const refused = await ask(app, org, { max_output_tokens: 16 })
  assert.deepEqual(limitRefusal(refused), [429, 'tokens', 'rate_limit_exceeded', 'true'])
  assert.equal(rateOf(refused).tokens?.remaining, 0)
  assert.ok((usedBefore(await explain(app, org, requestIdOf(refused)))['TPD'] ?? 0) > 1_199)
})
