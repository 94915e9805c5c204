import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import {
  deleteChatCompletion,
  listChatCompletions,
  listChatMessages,
  retrieveChatCompletion,
  updateChatCompletion,
} from '@switchyard/contracts/stored-completions.ts'
import { sql } from 'kysely'
import { snapshotOf } from '../../../../test/double-models.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { eventsIn, post } from '../testing/event-stream.ts'

const models = ['double-chat', 'double-responses', 'double-anthropic'] as const
const messages = [{ role: 'user', content: 'Say it again.' }]
const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }

async function create(app: TestApp, body: Record<string, unknown>, key = app.project.key) {
  const reply = await app.call(createChatCompletion, {
    key,
    body: { model: 'double-chat', messages, store: true, ...body },
  })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const read = (app: TestApp, id: string) => app.call(retrieveChatCompletion, { params: { completion_id: id } })

async function listedIds(app: TestApp, query: Record<string, string | number> = {}): Promise<string[]> {
  const { status, body, text } = await app.call(listChatCompletions, { query })
  assert.equal(status, 200, text)
  return body.data.map(({ id }) => id)
}

test('a chat completion that asks for it is kept as it was answered', async (t) => {
  const app = await testApp(t)
  for (const model of models) {
    await t.test(`${model}: whole`, async () => {
      app.double.queue({ text: 'Again.', usage: { input: 3, output: 1 } })
      const metadata = { team: 'blue' }
      const given = await create(app, { model, metadata, temperature: 0.5, user: 'u', tools: [weather] })
      const { body } = await read(app, given.id)
      const { request_id: requestId, ...shown } = body
      assert.match(requestId, /^req_/)
      assert.deepEqual(shown, {
        ...given,
        metadata,
        tools: [weather],
        tool_choice: null,
        response_format: null,
        temperature: 0.5,
        top_p: 1,
        presence_penalty: 0,
        frequency_penalty: 0,
        seed: null,
        input_user: 'u',
      })
    })

    await t.test(`${model}: a stream, by the time that its last record is read`, async () => {
      const calls = [
        { name: 'weather', arguments: { city: 'New York' } },
        { name: 'weather', arguments: {} },
      ]
      app.double.queue({ text: 'one two three', calls, usage: { input: 5, output: 2 } })
      const body = { model, messages, tools: [weather], stream: true, store: true }
      const events = eventsIn(await (await post(app, '/v1/chat/completions', body)).text())
      assert.equal(events.at(-1)?.data, '[DONE]')
      const chunks = events.slice(0, -1).map(({ data }) => JSON.parse(data) as { id: string; choices: Piece[] })
      const pieces = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []))
      const { body: kept } = await read(app, chunks[0]?.id ?? '')
      const [choice] = kept.choices
      assert.deepEqual([kept.object, kept.model, kept.usage.total_tokens], ['chat.completion', snapshotOf(model), 7])
      assert.deepEqual([choice?.message.content, choice?.finish_reason], ['one two three', 'tool_calls'])
      assert.deepEqual(
        choice?.message.tool_calls?.map(({ id, function: { name, arguments: text } }) => [id, name, JSON.parse(text)]),
        calls.map((call, at) => [pieces.find(({ index }) => index === at)?.id, call.name, call.arguments]),
      )
    })
  }

  await t.test('one that does not ask is not, nor is one that failed on the way', async () => {
    const before = await listedIds(app, { limit: 100 })
    for (const store of [false, null, undefined]) await create(app, { store, metadata: { a: 'b' } })
    app.double.queue({ text: 'one two three four', after: 3, trouble: 'cut' })
    const reply = await post(app, '/v1/chat/completions', { model: 'double-chat', messages, stream: true, store: true })
    assert.equal(eventsIn(await reply.text()).at(-1)?.event, 'error')
    assert.deepEqual(await listedIds(app, { limit: 100 }), before)
  })
})

test('what could not be stored is not said to be over', async (t) => {
  const app = await testApp(t)
  await sql`alter table inference.completion rename to elsewhere`.execute(app.db.kysely)
  for (const model of models) {
    const body = { model, messages, store: true }
    assert.equal((await app.call(createChatCompletion, { body })).status, 500)
    const reply = await post(app, '/v1/chat/completions', { ...body, stream: true })
    assert.doesNotMatch(await reply.text().catch(() => ''), /DONE/)
    assert.equal((await app.call(createChatCompletion, { body: { ...body, store: false } })).status, 200)
  }
})

interface Piece {
  delta: { tool_calls?: { index: number; id?: string }[] }
}

test('stored chat completions are listed, changed and deleted', async (t) => {
  const app = await testApp(t)
  const a = (await create(app, { metadata: { team: 'blue', run: '1' } })).id
  const b = (await create(app, { model: 'double-anthropic', metadata: { team: 'blue' } })).id
  const c = (await create(app, {})).id
  await create(app, {}, app.other.key)

  await t.test('oldest first, or newest, page by page', async () => {
    assert.deepEqual(await listedIds(app), [a, b, c])
    assert.deepEqual(await listedIds(app, { order: 'desc' }), [c, b, a])
    assert.deepEqual(await listedIds(app, { after: a, limit: 1 }), [b])
    assert.deepEqual(await listedIds(app, { after: b, order: 'desc' }), [a])
    const { body } = await app.call(listChatCompletions, { query: { limit: 2 } })
    assert.deepEqual([body.first_id, body.last_id, body.has_more], [a, b, true])
    const rest = await app.call(listChatCompletions, { query: { after: b } })
    assert.equal(rest.body.has_more, false)
  })

  await t.test('by model, under either of its names, and by metadata, all of it', async () => {
    assert.deepEqual(await listedIds(app, { model: 'double-chat' }), [a, c])
    assert.deepEqual(await listedIds(app, { model: snapshotOf('double-anthropic') }), [b])
    assert.deepEqual(await listedIds(app, { model: 'gone' }), [])
    assert.deepEqual(await listedIds(app, { 'metadata[team]': 'blue' }), [a, b])
    assert.deepEqual(await listedIds(app, { 'metadata[team]': 'blue', 'metadata[run]': '1' }), [a])
    assert.deepEqual(await listedIds(app, { 'metadata[team]': 'red' }), [])
  })

  await t.test('metadata is replaced, and nothing else', async () => {
    const { body: before } = await read(app, b)
    const update = (metadata: unknown) =>
      app.call(updateChatCompletion, { params: { completion_id: b }, body: { metadata } })
    assert.deepEqual((await update({ team: 'red' })).body, { ...before, metadata: { team: 'red' } })
    assert.deepEqual(await listedIds(app, { 'metadata[team]': 'red' }), [b])
    assert.deepEqual((await update(null)).body.metadata, {})
  })

  await t.test('a deleted one is gone', async () => {
    const gone = await app.call(deleteChatCompletion, { params: { completion_id: a } })
    assert.deepEqual(gone.body, { id: a, object: 'chat.completion.deleted', deleted: true })
    assert.equal((await read(app, a)).status, 404)
    assert.deepEqual(await listedIds(app), [b, c])
  })

  await t.test('an unknown place to go on from is refused by name', async () => {
    const reply = await app.call(listChatCompletions, { query: { after: a } })
    assert.deepEqual([reply.status, reply.error.code, reply.error.param], [400, 'invalid_value', 'after'])
  })
})

test('a page of large completions is cut short, and says that there is more', async (t) => {
  const app = await testApp(t, { SWITCHYARD_HTTP_BODY_BYTES_MAX: String(8 * 1024 * 1024) })
  const content = 'x'.repeat(6 * 1024 * 1024)
  const ids: string[] = []
  app.double.decide(() => 'Yes.')
  for (let at = 0; at < 4; at += 1) ids.push((await create(app, { messages: [{ role: 'user', content }] })).id)
  const seen: string[] = []
  for (let pages = 1; pages <= ids.length; pages += 1) {
    const after = seen.at(-1)
    const { body } = await app.call(listChatCompletions, { query: after === undefined ? {} : { after } })
    seen.push(...body.data.map(({ id }) => id))
    if (pages === 1) assert.equal(body.data.length, 3)
    if (!body.has_more) break
  }
  assert.deepEqual(seen, ids)
  const page = await app.wired.inference.listStored(app.project.id, {}, { after: null, limit: 10 })
  assert.deepEqual(
    page.map(({ id }) => id),
    ids.slice(0, 3),
  )
})

test('messages of a stored chat completion are listed with places to go on from', async (t) => {
  const app = await testApp(t)
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
  const given = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Look.' }, image], name: 'ann' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', content: 'rain', tool_call_id: 'call_1' },
  ]
  const { id } = await create(app, { messages: given, tools: [weather] })
  const list = (query: Record<string, string | number>) =>
    app.call(listChatMessages, { params: { completion_id: id }, query })
  const { body } = await list({})
  const bare = { content_parts: null, name: null, refusal: null }
  assert.deepEqual(body.data, [
    { ...bare, id: `${id}-0`, role: 'system', content: 'Be brief.' },
    { ...bare, id: `${id}-1`, role: 'user', content: 'Look.', content_parts: given[1]?.content, name: 'ann' },
    { ...bare, id: `${id}-2`, role: 'assistant', content: null, tool_calls: [call] },
    { ...bare, id: `${id}-3`, role: 'tool', content: 'rain', tool_call_id: 'call_1' },
  ])
  const last = await list({ order: 'desc', limit: 1 })
  assert.deepEqual([last.body.data[0]?.id, last.body.has_more], [`${id}-3`, true])
  const next = await list({ after: `${id}-2` })
  assert.deepEqual([next.body.data.length, next.body.has_more], [1, false])
  assert.equal((await list({ after: `${id}-4` })).error.param, 'after')
})

test('evals read stored completions in order, by time, model and metadata', async (t) => {
  const app = await testApp(t)
  const begun = Math.floor(Date.now() / 1_000)
  const made = [
    await create(app, { metadata: { team: 'blue' } }),
    await create(app, { model: 'double-anthropic' }),
    await create(app, { tools: [weather] }),
  ]
  await create(app, {}, app.other.key)
  const ids = made.map(({ id }) => id)
  type Filter = Parameters<TestApp['wired']['inference']['listStored']>[1]
  const listed = async (filter: Filter, after: string | null = null, limit = 10) => {
    const page = await app.wired.inference.listStored(app.project.id, filter, { after, limit })
    return page.map(({ id }) => id)
  }
  assert.deepEqual(await listed({}), ids)
  assert.deepEqual(await listed({}, ids[0], 1), [ids[1]])
  assert.deepEqual(await listed({}, ids[2]), [])
  assert.deepEqual(await listed({ model: 'double-chat' }), [ids[0], ids[2]])
  assert.deepEqual(await listed({ metadata: { team: 'blue' } }), [ids[0]])
  const at = (created: number) => new Date(created * 1_000)
  const [first, last] = [begun, Math.floor(Date.now() / 1_000)]
  assert.deepEqual(await listed({ createdAfter: at(first), createdBefore: at(last) }), ids)
  assert.deepEqual(await listed({ createdAfter: at(last + 60) }), [])
  assert.deepEqual(await listed({ createdBefore: at(first - 60) }), [])
  assert.deepEqual(await listed({ createdAfter: at(0), createdBefore: at(1e11) }), ids)
  const [stored] = await app.wired.inference.listStored(app.project.id, {}, { after: ids[1] ?? null, limit: 1 })
  assert.deepEqual([stored?.messages, stored?.asked.tools, stored?.completion], [messages, [weather], made[2]])
})
