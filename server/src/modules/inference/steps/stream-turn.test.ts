import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Tool } from '@switchyard/contracts/responses/tools.ts'
import { until } from '#platform/http/testing/poll.ts'
import { ProviderFault, type ProviderFaultKind } from '../domain/provider-fault.ts'
import type { TurnPart } from '../domain/turn.ts'
import { callsOf, collect, testInference, textOf, turn, usageOf, wires } from '../testing/turns.ts'

const still = () => new AbortController().signal
const weather: Tool = { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }
const shell: Tool = { type: 'shell', environment: { type: 'local' } }

/** The parts that came before the fault, and the fault. */
async function failing(parts: AsyncIterable<TurnPart>): Promise<{ seen: TurnPart[]; fault: ProviderFault }> {
  const seen: TurnPart[] = []
  try {
    for await (const part of parts) seen.push(part)
  } catch (err) {
    assert.ok(err instanceof ProviderFault, String(err))
    return { seen, fault: err }
  }
  throw new Error('the turn did not fail')
}

/** Most of their time is waiting between tries. */
describe('a turn', { concurrency: 16 }, () => {
  for (const wire of wires) {
    for (const stream of [true, false]) {
      const how = `${wire}, ${stream ? 'streamed' : 'whole'}`

      test(`${how}: text arrives unchanged, finish comes last with the tokens that the provider counted`, async (t) => {
        const { double, inference } = await testInference(t)
        double.queue({ text: 'Grüße — one two\nthree. 🙂', usage: { input: 7, output: 5 } })
        const parts = await collect(inference.streamTurn(turn(wire, { stream }), still()))
        assert.equal(textOf(parts), 'Grüße — one two\nthree. 🙂')
        assert.equal(parts.length > 3, stream)
        assert.deepEqual(parts.at(-1), {
          type: 'finish',
          reason: 'stop',
          model: 'upstream-name',
          usage: {
            input_tokens: 7,
            input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
            output_tokens: 5,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: 12,
          },
        })
        assert.equal(double.requests[0]?.body['model'], 'upstream-name')
      })

      test(`${how}: several calls of tools keep their order and speak of the declared tools`, async (t) => {
        const { double, inference } = await testInference(t)
        double.queue({
          text: 'Looking.',
          calls: [
            { name: 'weather', arguments: { city: 'Oslo' } },
            { name: 'shell', arguments: { commands: ['ls', 'pwd'], timeout_ms: 500 } },
          ],
        })
        const parts = await collect(inference.streamTurn(turn(wire, { stream, tools: [weather, shell] }), still()))
        assert.equal(textOf(parts), 'Looking.')
        assert.deepEqual(callsOf(parts), [
          { type: 'function', name: 'weather', arguments: '{"city":"Oslo"}' },
          { type: 'shell', commands: ['ls', 'pwd'], timeoutMs: 500, maxOutputLength: null },
        ])
        const starts = parts.flatMap((part) => (part.type === 'tool-start' ? [part.tool] : []))
        assert.deepEqual(starts, [{ type: 'function', name: 'weather' }, { type: 'shell' }])
      })

      test(`${how}: reasoning is told apart from the answer`, async (t) => {
        const { double, inference } = await testInference(t)
        double.queue({ reasoning: 'Hm, let me see.', text: 'Yes.' })
        const parts = await collect(inference.streamTurn(turn(wire, { stream }), still()))
        const thought = parts.map((part) => (part.type === 'reasoning' ? part.delta : '')).join('')
        assert.equal(thought, 'Hm, let me see.')
        assert.equal(textOf(parts), 'Yes.')
        const ends = parts.filter(({ type }) => type === 'reasoning-end')
        assert.equal(ends.length, 1)
      })

      test(`${how}: an answer that ran out of tokens says so`, async (t) => {
        const { double, inference } = await testInference(t)
        double.queue({ text: 'And then', finish: 'length' })
        const last = (await collect(inference.streamTurn(turn(wire, { stream }), still()))).at(-1)
        assert.ok(last?.type === 'finish')
        assert.equal(last.reason, 'length')
      })

      test(`${how}: a 429 with a short wait is tried again after it`, async (t) => {
        const { double, inference } = await testInference(t)
        double.queue({ status: 429, headers: { 'retry-after-ms': '300', 'retry-after': '1' } }, 'There.')
        const begun = Date.now()
        assert.equal(textOf(await collect(inference.streamTurn(turn(wire, { stream }), still()))), 'There.')
        assert.ok(Date.now() - begun >= 300)
        assert.equal(double.requests.length, 2)
      })

      test(`${how}: a 429 with a long wait is not waited for, and says when to come back`, async (t) => {
        const { double, inference } = await testInference(t)
        double.queue({ status: 429, headers: { 'retry-after': '30' } })
        const { fault } = await failing(inference.streamTurn(turn(wire, { stream }), still()))
        assert.deepEqual([fault.kind, fault.retryAfterMs, fault.afterFirstPart], ['rate_limited', 30_000, false])
        assert.equal(double.requests.length, 1)
      })

      test(`${how}: a provider that keeps failing is asked three times and no more`, async (t) => {
        const { double, inference } = await testInference(t)
        double.decide(() => ({ status: 503 }))
        const { fault } = await failing(inference.streamTurn(turn(wire, { stream }), still()))
        assert.equal(fault.kind, 'unavailable')
        assert.equal(double.requests.length, 3)
      })

      const refusals: [number, unknown, ProviderFaultKind][] = [
        [400, { error: { message: 'This model has a maximum context length of 4096 tokens.' } }, 'context_length'],
        [400, { error: { code: 'context_length_exceeded', message: 'Too long.' } }, 'context_length'],
        [400, { error: { message: 'top_k is not known; see http://provider.internal/docs' } }, 'refused'],
        [401, { error: { message: 'Incorrect key provider-key' } }, 'refused'],
        [302, {}, 'refused'],
      ]
      for (const [status, body, kind] of refusals) {
        test(`${how}: a ${status} is final (${kind}), and shows neither key nor address`, async (t) => {
          const { double, inference } = await testInference(t)
          double.queue({ status, body, headers: { location: `${double.url}/elsewhere` } })
          const { fault } = await failing(inference.streamTurn(turn(wire, { stream }), still()))
          assert.equal(fault.kind, kind)
          assert.doesNotMatch(fault.message, /provider-key|http:/)
          assert.equal(double.requests.length, 1)
        })
      }

      test(`${how}: a shell call that cannot be carried out is malformed, and the message says why`, async (t) => {
        const { double, inference } = await testInference(t)
        double.queue({ calls: [{ name: 'shell', arguments: { commands: 'ls' } }] })
        const { fault } = await failing(inference.streamTurn(turn(wire, { stream, tools: [shell] }), still()))
        assert.equal(fault.kind, 'malformed')
        assert.match(fault.message, /shell .*commands must be a list/)
      })

      test(`${how}: whoever leaves takes the request to the provider along`, async (t) => {
        const { double, inference } = await testInference(t)
        double.queue({ text: 'one two three', after: 3, trouble: 'hang' })
        const leaving = new AbortController()
        const asked = collect(inference.streamTurn(turn(wire, { stream }), leaving.signal))
        await until('the request', () => double.requests.length === 1 && double.open() === 1)
        leaving.abort(new Error('left'))
        await assert.rejects(asked, { message: 'left' })
        await until('the provider to notice', () => double.requests[0]?.gone === true)
        assert.equal(double.open(), 0)
      })

      test(`${how}: a provider that goes quiet is given up as hung`, async (t) => {
        const { double, inference } = await testInference(t, { idleMs: 900, firstPartMs: 3_000, answerMs: 2_000 })
        double.queue({ text: 'one two three', after: 4, trouble: 'hang' })
        const { fault } = await failing(inference.streamTurn(turn(wire, { stream }), still()))
        assert.equal(fault.kind, 'hung')
        assert.equal(double.requests.length, 1)
        await until('the request to end', () => double.open() === 0)
      })
    }

    test(`${wire}: a stream that is cut fails after its parts, and is not tried again`, async (t) => {
      const { double, inference } = await testInference(t)
      double.queue({ text: 'one two three four', after: 5, trouble: 'cut' })
      const { seen, fault } = await failing(inference.streamTurn(turn(wire), still()))
      assert.match(textOf(seen), /^one /)
      assert.deepEqual([fault.kind, fault.afterFirstPart], ['unavailable', true])
      assert.equal(double.requests.length, 1)
    })

    test(`${wire}: a chunk that is not JSON fails the turn as malformed`, async (t) => {
      const { double, inference } = await testInference(t)
      double.queue({ text: 'one two three four', after: 5, trouble: 'malformed' })
      const { seen, fault } = await failing(inference.streamTurn(turn(wire), still()))
      assert.match(textOf(seen), /^one /)
      assert.deepEqual([fault.kind, fault.afterFirstPart], ['malformed', true])
    })

    test(`${wire}: an error in the middle of a stream is the provider's failure`, async (t) => {
      const { double, inference } = await testInference(t)
      double.queue({ text: 'one two three four', after: 5, trouble: 'error' })
      const { fault } = await failing(inference.streamTurn(turn(wire), still()))
      assert.deepEqual([fault.kind, fault.afterFirstPart], ['unavailable', true])
    })

    test(`${wire}: a whole answer that is not JSON is malformed; one that is cut is tried again`, async (t) => {
      const { double, inference } = await testInference(t)
      double.queue({ text: 'Yes.', trouble: 'malformed' })
      const { fault } = await failing(inference.streamTurn(turn(wire, { stream: false }), still()))
      assert.equal(fault.kind, 'malformed')
      double.queue({ text: 'Yes.', trouble: 'cut' }, 'No.')
      assert.equal(textOf(await collect(inference.streamTurn(turn(wire, { stream: false }), still()))), 'No.')
    })

    test(`${wire}: connections are used again, also after streams`, async (t) => {
      const { double, inference } = await testInference(t, { connectionsMax: 1 })
      for (let at = 0; at < 5; at += 1) await collect(inference.streamTurn(turn(wire), still()))
      assert.equal(double.requests.length, 5)
      assert.equal(double.connections(), 1)
    })
  }
})

test('chat_completions: without a count of tokens usage is estimated, never left out', async (t) => {
  const { double, inference } = await testInference(t)
  double.queue({ text: 'x'.repeat(40), usage: null })
  const usage = usageOf(await collect(inference.streamTurn(turn('chat_completions'), still())))
  assert.equal(usage?.output_tokens, 10)
  assert.ok((usage?.input_tokens ?? 0) > 0)
})
