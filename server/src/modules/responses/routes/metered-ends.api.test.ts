import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelResponse, createResponse } from '@switchyard/contracts/responses/operations.ts'
import { sql } from 'kysely'
import { limitsFile } from '#modules/limits/testing/limits-kit.ts'
import {
  ask,
  explain,
  explainSettled,
  limitedOrg,
  onlyLimits,
  requestIdOf,
  usedBefore,
  type LimitedOrg,
} from '#modules/limits/testing/rate-kit.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { ownWorker } from '../../../../test/own-worker.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { SocketClient } from '../testing/socket-client.ts'

const boundMs = 30_000

/** The newest request of an organisation, for what has no reply that names it. */
async function newestRequest(app: TestApp, org: LimitedOrg): Promise<string> {
  let newest = ''
  const written = async () => {
    const { rows } = await sql<{ request_id: string }>`
      select request_id from limits.decision where org_id = ${org.id} order by at desc, id desc limit 1`.execute(
      app.db.kysely,
    )
    newest = rows[0]?.request_id ?? ''
    return newest !== ''
  }
  assert.ok(await becomesTrue(written, boundMs))
  return newest
}

test('what is cut off is settled once, with what the model had said', async (t) => {
  const file = await limitsFile(t, { tiers: { tier_1: onlyLimits({ tokens_per_day: 10_000 }) } })
  const app = await testApp(t, { ...file, ...(await ownWorker()) }, ['api', 'worker'])
  const hanging = () => app.double.queue({ text: 'one two three four five six seven', after: 5, trouble: 'hang' })
  const interrupted = async (org: LimitedOrg, id: string) => {
    const { settlements, usage } = await explainSettled(app, org, id)
    assert.deepEqual(
      settlements.map(({ kind, swept }) => [kind, swept]),
      [['settled', false]],
    )
    assert.deepEqual(
      usage.map(({ outcome, output_tokens }) => [outcome, output_tokens > 0]),
      [['interrupted', true]],
    )
  }
  for (const store of [true, false]) {
    await t.test(`a stream whose client leaves, ${store ? 'stored' : 'not stored'}`, async () => {
      const org = await limitedOrg(app, 'tier_1')
      hanging()
      const leave = new AbortController()
      const reply = await fetch(`${app.baseUrl}${createResponse.path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${org.project.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'double-chat', input: 'Go on.', stream: true, store }),
        signal: leave.signal,
      })
      const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
      for (let said = ''; !said.includes('two');) said += (await reader?.read())?.value ?? assert.fail('it ended')
      leave.abort()
      await interrupted(org, requestIdOf(reply))
    })
  }
  await t.test('a response in the background that is cancelled', async () => {
    const org = await limitedOrg(app, 'tier_1')
    hanging()
    const reply = await ask(app, org, { background: true })
    const params = { response_id: reply.body.id }
    const told = async () => {
      const { rows } = await sql<{ lines: string }>`
        select lines from responses.event where response_id = ${reply.body.id}`.execute(app.db.kysely)
      return rows.some(({ lines }) => lines.includes('two'))
    }
    assert.ok(await becomesTrue(told, boundMs), 'some of it is stored')
    const cancelled = await app.call(cancelResponse, { params, key: org.project.key })
    assert.equal(cancelled.body.status, 'cancelled', cancelled.text)
    await interrupted(org, requestIdOf(reply))
  })
})

test('a reply that is repeated under its Idempotency-Key counts as a request, and its tokens are given back', async (t) => {
  const tiers = { tier_1: onlyLimits({ requests_per_minute: 5, tokens_per_day: 10_000 }) }
  const app = await testApp(t, await limitsFile(t, { tiers }))
  const org = await limitedOrg(app, 'tier_1')
  const send = () => ask(app, org, { max_output_tokens: 500 }, { headers: { 'idempotency-key': 'once' } })
  const [first, second] = [await send(), await send()]
  assert.deepEqual(second.body, first.body)
  assert.equal(app.double.requests.length, 1)
  const settled = await explainSettled(app, org, requestIdOf(first))
  assert.deepEqual([settled.settlements[0]?.kind, settled.usage.length], ['settled', 1])
  const given = await explainSettled(app, org, requestIdOf(second))
  assert.deepEqual([given.settlements[0]?.kind, given.settlements.length, given.usage.length], ['released', 1, 0])
  const { TPD = 0, RPM = 0 } = usedBefore(await explain(app, org, requestIdOf(await ask(app, org))))
  assert.ok(TPD <= 500 && TPD > 495, `${TPD} tokens`)
  assert.ok(RPM > 1, 'requests are never given back')
})

test('frames of a socket are requests: counted one by one, settled, and refused with an error event', async (t) => {
  const tiers = { tier_1: onlyLimits({ requests_per_minute: 3, tokens_per_day: 10_000 }) }
  const app = await testApp(t, await limitsFile(t, { tiers }))
  const org = await limitedOrg(app, 'tier_1')
  const client = await SocketClient.open(t, { baseUrl: app.baseUrl, project: org.project })
  app.double.decide(() => ({ text: 'one two', usage: { input: 30, output: 20 } }))
  const said = await client.ask({ input: 'Hello.', max_output_tokens: 500 })
  assert.equal(said.type, 'response.completed')
  const why = await explainSettled(app, org, await newestRequest(app, org))
  assert.deepEqual(
    why.settlements.map(({ kind, tokens }) => [kind, tokens]),
    [['settled', 50]],
  )
  assert.deepEqual([why.decisions[0]?.tokens_charged, why.usage.length], [500, 1])

  const wrong = await client.ask({ input: 'Hello.', temperature: 9 })
  assert.deepEqual([wrong.type, wrong.status], ['error', 400])
  assert.equal((await client.ask({ input: 'Hello.' })).type, 'response.completed')
  const refused = await client.ask({ input: 'Hello.' })
  assert.deepEqual(
    [refused.type, refused.status, refused.error?.type, refused.error?.code],
    ['error', 429, 'requests', 'rate_limit_exceeded'],
  )
  const headers = refused.error?.headers as Record<string, string>
  assert.deepEqual([headers['x-ratelimit-limit-requests'], headers['x-ratelimit-remaining-requests']], ['3', '0'])
  assert.ok(Number(headers['retry-after-ms']) > 0)
  assert.equal((await ask(app, org)).status, 429, 'the same bucket as over HTTP')
})

test('later turns of a response wait for their tokens, and fail only when waiting is no use', async (t) => {
  const app = await testApp(
    t,
    await limitsFile(t, { tiers: { tier_1: onlyLimits({ requests_per_minute: 10, tokens_per_minute: 6_000 }) } }),
  )
  // Past the threshold it compacts by itself, and then answers: two calls of the model.
  const context_management = [{ type: 'compaction', compact_threshold: 1_000 }]
  const input = 'word '.repeat(4_200)
  const body = { input, context_management, max_output_tokens: 1_250 }

  await t.test('the second turn comes as soon as there are tokens for it', async () => {
    const org = await limitedOrg(app, 'tier_1')
    app.double.queue('A summary.', 'An answer.') // Two words each.
    const begun = performance.now()
    const reply = await ask(app, org, body)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.body.status, 'completed')
    const why = await explainSettled(app, org, requestIdOf(reply), 2)
    assert.deepEqual(
      why.decisions.map(({ kind, tokens_charged }) => [kind, tokens_charged]),
      [
        ['admitted', 5_250],
        ['refused', 1_250 - 2],
        ['admitted', 1_250 - 2],
      ],
    )
    assert.ok(performance.now() - begun > (why.decisions[1]?.retry_after_ms ?? Infinity), 'it waited as long as told')
    assert.deepEqual(why.settlements.map(({ kind, reservation }) => `${reservation} ${kind}`).toSorted(), [
      `${requestIdOf(reply)} settled`,
      `${requestIdOf(reply)}/1 settled`,
    ])
    assert.equal(why.usage.length, 2)
    const { RPM = 0 } = usedBefore(await explain(app, org, requestIdOf(await ask(app, org))))
    assert.ok(RPM < 1, 'a later turn is no request')
  })

  await t.test('a turn that needs more than the whole limit ends the response', async () => {
    const org = await limitedOrg(app, 'tier_1')
    app.double.queue({ text: 'A summary, and a long one. '.repeat(1_000), usage: { input: 10, output: 10 } })
    const reply = await ask(app, org, { ...body, stream: true })
    const failed = reply.text.split('\n').find((line) => line.includes('"response.failed"') && line.startsWith('data'))
    const { response } = JSON.parse(failed?.slice(5) ?? 'null') as { response: { error: Record<string, string> } }
    assert.equal(response.error['code'], 'rate_limit_exceeded')
    assert.match(response.error['message'] ?? '', /^Request too large for double-chat.*TPM/)
    const why = await explainSettled(app, org, requestIdOf(reply))
    assert.deepEqual([why.settlements.length, why.usage.length], [1, 1])
  })
})

test('what a turn used is in the ledger when the turn is over, before its response is', async (t) => {
  const app = await testApp(
    t,
    await limitsFile(t, { tiers: { tier_1: onlyLimits({ requests_per_minute: 10, tokens_per_minute: 600_000 }) } }),
  )
  const org = await limitedOrg(app, 'tier_1')
  app.double.queue('A summary.', { text: 'An answer.', slowMs: 2_000 })
  const context_management = [{ type: 'compaction', compact_threshold: 1_000 }]
  let answered = false
  const asking = ask(app, org, { input: 'word '.repeat(4_200), context_management }).finally(() => (answered = true))
  const rows = async () => {
    const found = await sql<{
      turn: number
    }>`select turn from limits.usage where org_id = ${org.id} order by turn`.execute(app.db.kysely)
    return found.rows.map(({ turn }) => turn)
  }
  assert.ok(await becomesTrue(async () => (await rows()).length === 1, boundMs))
  assert.equal(answered, false)
  assert.equal((await asking).status, 200)
  assert.deepEqual(await rows(), [0, 1])
})
