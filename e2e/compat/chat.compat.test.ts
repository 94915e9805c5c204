import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { APIError, BadRequestError, NotFoundError, OpenAI, RateLimitError } from 'openai'
import type { Stack } from '../../dev/stack.ts'
import { snapshotOf, writeDoubleModels } from '../../server/test/double-models.ts'
import { startProviderDouble, type ProviderDouble } from '../../server/test/provider-double.ts'
import { startTemporaryStack } from '../temporary-stack.ts'

const STACK_BOUND_MS = 180_000
const models = ['double-chat', 'double-responses', 'double-anthropic'] as const
const messages = [{ role: 'user' as const, content: 'Say it again.' }]

let stack: Stack
let double: ProviderDouble
let client: OpenAI
const folder = mkdtempSync(join(tmpdir(), 'switchyard-models-'))

before(
  async () => {
    double = await startProviderDouble()
    const settings = { SWITCHYARD_MODELS: await writeDoubleModels(folder, double.url) }
    stack = await startTemporaryStack({ nodes: { all: 1 }, settings })
    client = new OpenAI({
      baseURL: `http://127.0.0.1:${stack.httpPort}/v1`,
      apiKey: stack.seeded.projectKey,
      maxRetries: 0,
    })
  },
  { timeout: STACK_BOUND_MS },
)
after(
  async () => {
    await stack?.stop()
    await double?.close()
    rmSync(folder, { recursive: true, force: true })
  },
  { timeout: STACK_BOUND_MS },
)

test('models are listed and read', async () => {
  const names: string[] = []
  for await (const { id } of client.models.list()) names.push(id)
  assert.ok(models.every((model) => names.includes(model) && names.includes(snapshotOf(model))))
  assert.equal((await client.models.retrieve('double-chat')).object, 'model')
  await assert.rejects(async () => await client.models.retrieve('none'), NotFoundError)
})

for (const model of models) {
  test(`${model}: create, stream and the strict stream helper`, async () => {
    double.queue('Once.', 'one two three', { text: 'four five', usage: { input: 4, output: 2 } })
    const whole = await client.chat.completions.create({ model, messages })
    assert.deepEqual([whole.choices[0]?.message.content, whole.model], ['Once.', snapshotOf(model)])
    let text = ''
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? ''
    }
    assert.equal(text, 'one two three')
    const helper = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } })
    const final = await helper.finalChatCompletion()
    assert.equal(final.choices[0]?.message.content, 'four five')
    assert.equal(final.usage?.total_tokens, 6)
  })

  test(`${model}: runTools carries a function out and ends with the answer`, async () => {
    double.queue({ calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }, 'It rains in Oslo.')
    const asked: unknown[] = []
    const runner = client.chat.completions.runTools({
      model,
      messages,
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'The weather of a city.',
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
            parse: JSON.parse,
            function: (given: unknown) => {
              asked.push(given)
              return 'rain'
            },
          },
        },
      ],
    })
    assert.equal(await runner.finalContent(), 'It rains in Oslo.')
    assert.deepEqual(asked, [{ city: 'Oslo' }])
  })

  test(`${model}: faults arrive as the SDK's own, also in the middle of a stream`, async () => {
    double.queue({ status: 429, headers: { 'retry-after': '30' } })
    await assert.rejects(async () => await client.chat.completions.create({ model, messages }), RateLimitError)
    double.queue({ status: 400, body: { error: { code: 'context_length_exceeded', message: 'Too long.' } } })
    await assert.rejects(async () => await client.chat.completions.create({ model, messages }), BadRequestError)
    double.queue({ text: 'one two three four', after: 5, trouble: 'cut' })
    await assert.rejects(async () => {
      for await (const _chunk of await client.chat.completions.create({ model, messages, stream: true }));
    }, APIError)
  })
}

for (const model of models) {
  test(`${model}: stored completions are listed, read, labelled and deleted, whole and streamed`, async () => {
    const asked = { model, messages, store: true, metadata: { suite: model } }
    double.queue('Kept.', 'kept as well')
    const whole = await client.chat.completions.create(asked)
    const streamed = await client.chat.completions.stream(asked).finalChatCompletion()
    const ids: string[] = []
    for await (const { id } of client.chat.completions.list({ metadata: { suite: model }, limit: 1 })) ids.push(id)
    assert.deepEqual(ids, [whole.id, streamed.id])
    const newest = await client.chat.completions.list({ model, order: 'desc', limit: 1 })
    assert.deepEqual([newest.data[0]?.id, newest.has_more], [streamed.id, true])

    const kept = await client.chat.completions.retrieve(streamed.id)
    assert.deepEqual(
      [kept.object, kept.model, kept.choices[0]?.message.content, kept.usage?.completion_tokens],
      ['chat.completion', snapshotOf(model), 'kept as well', 3],
    )
    const said: unknown[] = []
    for await (const message of client.chat.completions.messages.list(whole.id, { limit: 1 })) {
      said.push([message.id, message.role, message.content])
    }
    assert.deepEqual(said, [[`${whole.id}-0`, 'user', 'Say it again.']])

    const labelled = await client.chat.completions.update(whole.id, { metadata: { suite: 'done' } })
    assert.deepEqual([labelled.id, labelled.choices], [whole.id, whole.choices])
    const gone = await client.chat.completions.delete(streamed.id)
    assert.deepEqual(gone, { id: streamed.id, object: 'chat.completion.deleted', deleted: true })
    await assert.rejects(async () => await client.chat.completions.retrieve(streamed.id), NotFoundError)
  })
}

test('completions: a list of prompts, whole and streamed', async () => {
  const prompt = ['one', 'two', 'three']
  const { choices } = await client.completions.create({ model: 'double-chat', prompt })
  assert.deepEqual(
    choices.map(({ text, index }) => [index, text]),
    [...prompt.entries()],
  )
  const texts = ['', '', '']
  for await (const chunk of await client.completions.create({ model: 'double-chat', prompt, stream: true })) {
    for (const { index, text } of chunk.choices) texts[index] += text
  }
  assert.deepEqual(texts, prompt)
})
