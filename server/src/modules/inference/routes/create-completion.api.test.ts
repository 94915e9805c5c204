import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCompletion } from '@switchyard/contracts/completions.ts'
import { until } from '#platform/http/testing/poll.ts'
import { snapshotOf } from '../../../../test/double-models.ts'
import { testApp } from '../../../../test/test-app.ts'
import { eventsIn, post } from '../testing/event-stream.ts'

interface Chunk {
  object: string
  choices: { index: number; text: string; finish_reason: string | null }[]
  usage?: { total_tokens: number } | null
}

test('completions', async (t) => {
  const app = await testApp(t)
  const call = (body: Record<string, unknown>) =>
    app.call(createCompletion, { body: { model: 'double-chat', ...body } })

  // S3-8.9-b
  await t.test('a list of prompts gives one choice each, in its order, and counts all tokens', async () => {
    const prompt = Array.from({ length: 20 }, (_, at) => `prompt ${at}`)
    const { status, body } = await call({ prompt })
    assert.equal(status, 200)
    assert.deepEqual([body.object, body.model], ['text_completion', snapshotOf('double-chat')])
    assert.deepEqual(
      body.choices.map(({ text }) => text),
      prompt,
    )
    assert.deepEqual(
      body.choices.map(({ index }) => index),
      [...prompt.keys()],
    )
    assert.equal(body.usage.completion_tokens, 40)
  })

  await t.test('n multiplies, choices of one prompt side by side', async () => {
    const { body } = await call({ prompt: ['a', 'b'], n: 2 })
    assert.deepEqual(
      body.choices.map(({ text }) => text),
      ['a', 'a', 'b', 'b'],
    )
  })

  await t.test('a stream names the choice of every piece and ends with [DONE]', async () => {
    const body = { model: 'double-anthropic', prompt: ['one two', 'three'], stream: true }
    const reply = await post(app, '/v1/completions', { ...body, stream_options: { include_usage: true } })
    const events = eventsIn(await reply.text())
    assert.equal(events.pop()?.data, '[DONE]')
    const chunks = events.map(({ data }) => JSON.parse(data) as Chunk)
    const last = chunks.pop()
    assert.deepEqual(last?.choices, [])
    assert.ok((last?.usage?.total_tokens ?? 0) > 0)
    const textOf = (index: number) =>
      chunks
        .flatMap(({ choices }) => choices)
        .filter((choice) => choice.index === index)
        .map(({ text }) => text)
        .join('')
    assert.deepEqual([textOf(0), textOf(1)], ['one two', 'three'])
  })

  for (const stream of [true, false]) {
    await t.test(`when one choice fails, nothing goes on for the others (stream: ${stream})`, async () => {
      const asked = app.double.requests.length
      app.double.queue({ trouble: 'hang' }, { trouble: 'hang' }, { status: 400 })
      const reply = await post(app, '/v1/completions', { model: 'double-chat', prompt: ['a', 'b', 'c'], stream })
      assert.equal(reply.status, 502)
      await until('all are left', () => app.double.open() === 0)
      assert.equal(app.double.requests.length - asked, 3)
    })
  }

  await t.test('sampling that the wire knows is passed on', async () => {
    await call({ prompt: 'x', seed: 7, stop: ['y'], max_tokens: 3, presence_penalty: 1 })
    const { seed, stop, max_tokens, presence_penalty } = app.double.requests.at(-1)?.body ?? {}
    assert.deepEqual([seed, stop, max_tokens, presence_penalty], [7, ['y'], 3, 1])
  })

  const refusals: [Record<string, unknown>, string, string][] = [
    [{ prompt: [1, 2] }, 'unsupported_value', 'prompt[0]'],
    [{ prompt: [[1], [2]] }, 'unsupported_value', 'prompt[0]'],
    [{ prompt: 'x', echo: true }, 'unknown_parameter', 'echo'],
    [{ prompt: ['x', 'y'], n: 65 }, 'integer_above_max_value', 'n'],
  ]
  for (const [body, code, param] of refusals) {
    await t.test(`what is not offered is refused by name: ${JSON.stringify(body)}`, async () => {
      const reply = await call(body)
      assert.deepEqual([reply.status, reply.error.code, reply.error.param], [400, code, param], reply.text)
    })
  }
})
