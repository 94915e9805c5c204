import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { createResponse } from '@switchyard/contracts/responses/operations.ts'
import { snapshotOf } from '../../../../test/double-models.ts'
import { testApp } from '../../../../test/test-app.ts'
import { schemaOfLogs } from '../domain/logs-schema.ts'
import { ItemSchemas } from './item-schemas.ts'
import { rowsOfCompletions, rowsOfResponses, type StoredRow } from './stored-rows.ts'

async function all(rows: AsyncIterable<StoredRow>): Promise<StoredRow[]> {
  const read: StoredRow[] = []
  for await (const row of rows) read.push(row)
  return read
}

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7, cached_tokens: 0 }

/** Every row is what the schema of such an eval says. */
async function assertDescribed(t: TestContext, rows: readonly StoredRow[]): Promise<void> {
  const schemas = new ItemSchemas()
  t.after(() => schemas.part.stop?.())
  const reasons = await schemas.check(schemaOfLogs(), rows)
  assert.deepEqual(
    reasons,
    rows.map(() => null),
  )
}

test('stored chat completions are rows of what was asked and what was answered', async (t) => {
  const app = await testApp(t)
  const messages = [
    { role: 'system', content: 'Answer in JSON.' },
    { role: 'user', content: [{ type: 'text', text: 'Which city?' }] },
  ]
  const weather = { type: 'function', function: { name: 'weather', parameters: {} } }
  const create = async (more: object) => {
    const body = { model: 'double-chat', messages, store: true, ...more }
    const reply = await app.call(createChatCompletion, { body })
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }
  app.double.queue({ text: '{"city":"Oslo"}', usage: { input: 5, output: 2 } })
  const said = await create({ metadata: { team: 'blue' } })
  app.double.queue({ calls: [{ name: 'weather', arguments: { city: 'Oslo' } }], usage: { input: 5, output: 2 } })
  const called = await create({ tools: [weather] })
  const model = snapshotOf('double-chat')
  const source = { type: 'stored_completions' } as const
  const rows = await all(rowsOfCompletions(app.wired, app.project.id, source))
  assert.deepEqual(rows, [
    {
      item: { id: said.id, input: messages, metadata: { team: 'blue' }, model },
      sample: {
        output_text: '{"city":"Oslo"}',
        output_json: { city: 'Oslo' },
        output_tools: [],
        choices: said.choices,
        model,
        finish_reason: 'stop',
        usage,
      },
    },
    {
      item: { id: called.id, input: messages, metadata: {}, model, tools: [weather] },
      sample: {
        output_text: '',
        output_json: null,
        output_tools: called.choices[0]?.message.tool_calls,
        choices: called.choices,
        model,
        finish_reason: 'tool_calls',
        usage,
      },
    },
  ])
  await assertDescribed(t, rows)

  const idsOf = async (more: object) =>
    (await all(rowsOfCompletions(app.wired, app.project.id, { ...source, ...more }))).map(({ item }) => item['id'])
  assert.deepEqual(await idsOf({ limit: 1 }), [said.id])
  assert.deepEqual(await idsOf({ metadata: { team: 'blue' } }), [said.id])
  assert.deepEqual(await idsOf({ model: 'double-anthropic' }), [])
  assert.deepEqual(await idsOf({ created_before: Number.MAX_SAFE_INTEGER, created_after: 0 }), [said.id, called.id])
  assert.deepEqual(await idsOf({ created_after: Number.MAX_SAFE_INTEGER }), [])
})

test('stored responses are rows in the same form, and their input can be asked again', async (t) => {
  const app = await testApp(t)
  const create = async (body: Record<string, unknown>) => {
    const reply = await app.call(createResponse, { body: { model: 'double-chat', ...body } })
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }
  const tool = { type: 'function', name: 'weather', parameters: {}, strict: false }
  const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'auto' }
  app.double.queue({ calls: [{ name: 'weather', arguments: { city: 'Oslo' } }], usage: { input: 5, output: 2 } })
  const called = await create({ input: 'The weather?', instructions: 'Be brief.', tools: [tool], user: 'ann' })
  const [call] = called.output
  assert.equal(call?.type, 'function_call')
  const output = { type: 'function_call_output', call_id: call.call_id, output: 'rain' }
  app.double.queue({ text: 'It rains.', usage: { input: 5, output: 2 } })
  const user = { role: 'user', content: [{ type: 'input_text', text: 'Look.' }, image] }
  const said = await create({ input: [user, call, output], metadata: { team: 'blue' } })

  const rows = await all(rowsOfResponses(app.wired, app.project.id, { type: 'responses' }))
  const model = snapshotOf('double-chat')
  const [first, second] = rows
  assert.deepEqual(first?.item, {
    id: called.id,
    input: [{ role: 'user', content: 'The weather?' }],
    instructions: 'Be brief.',
    metadata: {},
    model,
    tools: called.tools,
  })
  const toolCall = { id: call.call_id, type: 'function', function: { name: 'weather', arguments: call.arguments } }
  assert.deepEqual([first?.sample?.['output_tools'], first?.sample?.['finish_reason']], [[toolCall], 'tool_calls'])
  const { id, input, ...item } = second?.item ?? {}
  assert.deepEqual([id, item], [said.id, { metadata: { team: 'blue' }, model }])
  const kinds = (input as { type?: string; role?: string }[]).map(({ type, role }) => type ?? role)
  assert.deepEqual(kinds, ['user', 'function_call', 'function_call_output'])
  assert.deepEqual(second?.sample?.['output_text'], 'It rains.')
  assert.deepEqual(second.sample['usage'], usage)
  await assertDescribed(t, rows)
  await create({ input })

  const found = await all(rowsOfResponses(app.wired, app.project.id, { type: 'responses', users: ['ann'] }))
  assert.deepEqual(
    found.map((row) => row.item['id']),
    [called.id],
  )
})

test('more than a page is read once, in order, and no more than the limit', async (t) => {
  const app = await testApp(t)
  app.double.decide(() => 'Yes.')
  const made: string[] = []
  const body = { model: 'double-chat', messages: [{ role: 'user', content: 'Hello.' }], store: true }
  for (let at = 0; at < 120; at += 1) made.push((await app.call(createChatCompletion, { body })).body.id)
  const idsUpTo = async (limit: number) => {
    const rows = await all(rowsOfCompletions(app.wired, app.project.id, { type: 'stored_completions', limit }))
    return rows.map(({ item }) => item['id'])
  }
  assert.deepEqual(await idsUpTo(1_000), made)
  assert.deepEqual(await idsUpTo(110), made.slice(0, 110))
})
