import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { until } from '#platform/http/testing/poll.ts'
import { snapshotOf } from '../../../../test/double-models.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { eventsIn, post } from '../testing/event-stream.ts'

const models = ['double-chat', 'double-responses', 'double-anthropic'] as const
const messages = [{ role: 'user', content: 'Say it again.' }]
const path = '/v1/chat/completions'
const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }

interface Chunk {
  id: string
  model: string
  object: string
  usage?: { total_tokens: number } | null
  choices: {
    delta: {
      content?: string
      tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[]
    }
    finish_reason: string | null
  }[]
}

async function streamed(
  app: TestApp,
  body: Record<string, unknown>,
): Promise<{ chunks: Chunk[]; last: string | undefined }> {
  const reply = await post(app, path, { messages, stream: true, ...body })
  assert.equal(reply.status, 200)
  const events = eventsIn(await reply.text())
  assert.ok(events.every(({ event }) => event === null))
  const chunks = events.slice(0, -1).map(({ data }) => JSON.parse(data) as Chunk)
  return { chunks, last: events.at(-1)?.data }
}

test('chat completions, whichever wire the provider speaks', async (t) => {
  const app = await testApp(t)
  const call = (body: Record<string, unknown>) => app.call(createChatCompletion, { body: { messages, ...body } })
  for (const model of models) {
    await t.test(`${model}: a whole answer names the snapshot and counts tokens`, async () => {
      app.double.queue({ text: 'Again.', usage: { input: 3, output: 1 } })
      const { status, body } = await call({ model, temperature: 0.5, max_tokens: 50, metadata: { a: 'b' }, user: 'u' })
      assert.equal(status, 200)
      assert.match(body.id, /^chatcmpl-/)
      assert.notEqual(body.id, 'chatcmpl-double')
      assert.deepEqual([body.object, body.model], ['chat.completion', snapshotOf(model)])
      const [choice] = body.choices
      assert.deepEqual([choice?.index, choice?.finish_reason, choice?.message.content], [0, 'stop', 'Again.'])
      assert.equal(body.usage.total_tokens, 4)
      const sent = app.double.requests.at(-1)?.body ?? {}
      assert.deepEqual([sent['temperature'], sent['metadata'], sent['user']], [0.5, undefined, undefined])
    })

    await t.test(`${model}: chunks add up to the answer and end with [DONE]`, async () => {
      app.double.queue('one two three')
      const { chunks, last } = await streamed(app, { model })
      assert.equal(last, '[DONE]')
      assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'one two three')
      assert.equal(new Set(chunks.map(({ id }) => id)).size, 1)
      for (const chunk of chunks) {
        assert.deepEqual(
          [chunk.object, chunk.model, 'usage' in chunk],
          ['chat.completion.chunk', snapshotOf(model), false],
        )
      }
      assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'stop')
    })

    await t.test(`${model}: with include_usage one last chunk counts, and the others say null`, async () => {
      app.double.queue({ text: 'one two', usage: { input: 5, output: 2 } })
      const { chunks } = await streamed(app, { model, stream_options: { include_usage: true } })
      const last = chunks.pop()
      assert.deepEqual([last?.choices, last?.usage?.total_tokens], [[], 7])
      assert.ok(chunks.length > 1 && chunks.every(({ usage }) => usage === null))
    })

    await t.test(`${model}: a function is called, and its answer goes back`, async () => {
      app.double.queue({ calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }, 'Rain.')
      const { body } = await call({ model, tools: [weather], tool_choice: 'required' })
      const message = body.choices[0]?.message
      assert.equal(body.choices[0]?.finish_reason, 'tool_calls')
      const [called] = message?.tool_calls ?? []
      assert.deepEqual(called?.function, { name: 'weather', arguments: '{"city":"Oslo"}' })
      const answer = { role: 'tool', tool_call_id: called?.id, content: 'It rains.' }
      const next = await call({ model, tools: [weather], messages: [...messages, message, answer] })
      assert.equal(next.body.choices[0]?.message.content, 'Rain.', next.text)
      assert.match(JSON.stringify(app.double.requests.at(-1)?.body), /It rains\./)
    })

    await t.test(`${model}: calls stream in pieces that add up`, async () => {
      app.double.queue({
        calls: [
          { name: 'weather', arguments: { city: 'New York' } },
          { name: 'weather', arguments: {} },
        ],
      })
      const { chunks } = await streamed(app, { model, tools: [weather] })
      const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
      const textOf = (index: number) =>
        pieces
          .filter((piece) => piece.index === index)
          .map((piece) => piece.function.arguments)
          .join('')
      assert.deepEqual([JSON.parse(textOf(0)), JSON.parse(textOf(1))], [{ city: 'New York' }, {}])
      assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'tool_calls')
    })

    await t.test(`${model}: a failure in the middle is an error record, the last one`, async () => {
      app.double.queue({ text: 'one two three four', after: 5, trouble: 'cut' })
      const events = eventsIn(await (await post(app, path, { model, messages, stream: true })).text())
      const last = events.at(-1)
      assert.equal(last?.event, 'error')
      const { error } = JSON.parse(last?.data ?? '') as { error: { code: string; type: string } }
      assert.deepEqual([error.code, error.type], ['provider_error', 'server_error'])
      assert.ok(events.length > 2)
    })

    await t.test(`${model}: after a chunk that cannot be understood nothing stays open`, async () => {
      app.double.queue({ text: 'one two three four', after: 5, trouble: 'malformed' })
      const events = eventsIn(await (await post(app, path, { model, messages, stream: true })).text())
      assert.equal(events.at(-1)?.event, 'error')
      await until('the provider is left', () => app.double.open() === 0)
      assert.match(await app.wired.metrics.text(), /^model_requests_in_flight_count 0$/m)
    })

    for (const stream of [true, false]) {
      const how = stream ? 'streamed' : 'whole'
      await t.test(`${model}, ${how}: a failure before anything was said is a status`, async () => {
        app.double.queue({ status: 429, headers: { 'retry-after': '30' } })
        const reply = await post(app, path, { model, messages, stream })
        assert.deepEqual([reply.status, reply.headers.get('retry-after')], [429, '30'])
      })

      await t.test(`${model}, ${how}: a client that leaves takes the provider's request along`, async () => {
        app.double.queue({ text: 'one two three', after: 3, trouble: 'hang' })
        const asked = app.double.requests.length
        const leaving = new AbortController()
        const reply = post(app, path, { model, messages, stream }, leaving.signal).then((one) => one.text())
        await until('the provider is asked', () => app.double.requests.length > asked)
        leaving.abort()
        await assert.rejects(reply)
        await until('the provider is left', () => app.double.requests.at(-1)?.gone === true)
      })
    }
  }

  // S1-1.2
  await t.test('the shell tool is refused by name: it lives on responses only', async () => {
    const reply = await call({ model: 'double-chat', tools: [{ type: 'shell', environment: { type: 'local' } }] })
    assert.deepEqual([reply.status, reply.error.code, reply.error.param], [400, 'unsupported_tool', 'tools[0].type'])
  })

  const refusals: [Record<string, unknown>, string, string][] = [
    [{ model: 'double-chat', n: 2 }, 'unsupported_value', 'n'],
    [{ model: 'double-responses', stop: 'x' }, 'unsupported_value', 'stop'],
    [{ model: 'double-anthropic', seed: 1 }, 'unsupported_value', 'seed'],
    [{ model: 'double-chat', audio: {} }, 'unknown_parameter', 'audio'],
    [{ model: 'double-chat', messages: [] }, 'array_below_min_length', 'messages'],
    [
      { model: 'double-chat', messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      'invalid_value',
      'messages[0].content[0].type',
    ],
  ]
  for (const [body, code, param] of refusals) {
    await t.test(`what is not offered is refused by name: ${param} on ${String(body['model'])}`, async () => {
      const reply = await call(body)
      assert.deepEqual([reply.status, reply.error.code, reply.error.param], [400, code, param], reply.text)
    })
  }
})

test('a client that leaves is no failure in the log', async (t) => {
  const app = await testApp(t)
  app.double.queue({ trouble: 'hang' })
  const leaving = new AbortController()
  const reply = post(app, path, { model: 'double-chat', messages }, leaving.signal)
  await until('the provider is asked', () => app.double.requests.length === 1)
  leaving.abort()
  await assert.rejects(reply)
  await until('the provider is left', () => app.double.open() === 0)
  assert.doesNotMatch(await app.log(), /request failed/)
})
