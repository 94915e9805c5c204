import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { retrieveCosts } from '@switchyard/contracts/organization/costs.ts'
import { retrieveCompletionsUsage, usageOperations } from '@switchyard/contracts/organization/usage.ts'
import { newPerson, refusalOf } from '#modules/orgs/testing/orgs-kit.ts'
import type { CallInput } from '../../../../test/call-operation.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { insertUsageRows, usageRow, type UsageRow } from '../testing/usage-rows.ts'

const day = (text: string) => Date.parse(`${text}T00:00:00Z`) / 1_000
const first = day('2026-11-01')
const dayS = 86_400

const rowOf = (app: TestApp, more: Partial<UsageRow> = {}): UsageRow =>
  usageRow(
    { atMs: first * 1_000, orgId: app.org.id, projectId: app.project.id },
    { model: 'double-chat-2026-11-01', input: 100, cached: 40, output: 10, costNanos: 1_000_000, ...more },
  )

type Query = NonNullable<CallInput['query']>

async function usage(app: TestApp, query: Query) {
  const reply = await app.call(retrieveCompletionsUsage, { query: { start_time: first, ...query } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

async function costs(app: TestApp, query: Query) {
  const reply = await app.call(retrieveCosts, { query: { start_time: first, ...query } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const completions = {
  object: 'organization.usage.completions.result',
  input_audio_tokens: 0,
  output_audio_tokens: 0,
  project_id: null,
  user_id: null,
  api_key_id: null,
  model: null,
  batch: null,
  service_tier: null,
  api_source: null,
}

test('usage comes in buckets of days, empty ones too, and goes on at the next page', async (t) => {
  const app = await testApp(t)
  await insertUsageRows(app.db, [
    rowOf(app),
    rowOf(app, { atMs: (first + dayS) * 1_000 - 1, projectId: app.other.id, batch: true }),
    rowOf(app, { atMs: (first + 2 * dayS) * 1_000 }),
    rowOf(app, { orgId: app.otherOrg.id, projectId: app.otherOrg.project.id }),
  ])
  const sum = (count: number) => ({
    ...completions,
    input_tokens: 100 * count,
    output_tokens: 10 * count,
    input_cached_tokens: 40 * count,
    input_uncached_tokens: 60 * count,
    num_model_requests: count,
  })
  const bucket = (at: number, results: unknown[]) => ({
    object: 'bucket',
    start_time: first + at * dayS,
    end_time: first + (at + 1) * dayS,
    results,
  })
  const page = await usage(app, { end_time: first + 3 * dayS, limit: 2 })
  const { next_page } = page
  assert.deepEqual(page, { object: 'page', data: [bucket(0, [sum(2)]), bucket(1, [])], has_more: true, next_page })
  const rest = await usage(app, { end_time: first + 3 * dayS, limit: 2, page: next_page ?? '' })
  assert.deepEqual(rest, { object: 'page', data: [bucket(2, [sum(1)])], has_more: false, next_page: null })
  assert.equal((await usage(app, { end_time: first + 100 * dayS })).data.length, 7)
})

test('usage is grouped and filtered by project, key, person, model and batch', async (t) => {
  const app = await testApp(t)
  const person = await newPerson(app, { projects: [{ id: app.project.id, role: 'member' }] })
  const { keyId } = await app.orgs.mintProjectKey({
    orgId: app.org.id,
    projectId: app.project.id,
    name: 'theirs',
    userId: person.id,
  })
  await insertUsageRows(app.db, [
    rowOf(app, { keyId }),
    rowOf(app, { keyId, batch: true }),
    rowOf(app, { projectId: app.other.id, model: 'other' }),
  ])
  const results = async (query: Query) =>
    (await usage(app, { end_time: first + dayS, ...query })).data[0]?.results ?? []
  const counts = async (field: string, query: Query = {}) =>
    Object.fromEntries(
      (await results({ group_by: [field], ...query })).map((one) => [
        String((one as Record<string, unknown>)[field]),
        one.num_model_requests,
      ]),
    )
  assert.deepEqual(await counts('project_id'), { [app.project.id]: 2, [app.other.id]: 1 })
  assert.deepEqual(await counts('model'), { 'double-chat-2026-11-01': 2, other: 1 })
  assert.deepEqual(await counts('batch'), { false: 2, true: 1 })
  assert.deepEqual(await counts('api_key_id'), { null: 1, [keyId]: 2 })
  assert.deepEqual(await counts('user_id'), { null: 1, [person.id]: 2 })
  assert.deepEqual(await counts('service_tier'), { default: 3 })
  assert.deepEqual(await counts('api_source'), { unlabeled: 3 })
  assert.deepEqual(await counts('model', { user_ids: [person.id], batch: 'false' }), { 'double-chat-2026-11-01': 1 })
  assert.deepEqual(await counts('model', { api_key_ids: [keyId], models: ['other'] }), {})
  assert.deepEqual(await counts('project_id', { project_ids: [app.other.id] }), { [app.other.id]: 1 })
  assert.deepEqual(await counts('model', { user_ids: ['user-nobody'] }), {})
  const both = await results({ group_by: ['project_id', 'model', 'batch'] })
  assert.equal(both.length, 3)
})

test('costs are what the rows cost, to the billionth, by project and by model', async (t) => {
  const app = await testApp(t)
  await insertUsageRows(app.db, [
    rowOf(app, { costNanos: 1 }),
    rowOf(app, { costNanos: 2_000_000_000, model: 'other' }),
    rowOf(app, { costNanos: 500_000_000, projectId: app.other.id }),
  ])
  const cost = (value: number, more: object = {}) => ({
    object: 'organization.costs.result',
    amount: { value, currency: 'usd' },
    line_item: null,
    project_id: null,
    user_id: null,
    api_key_id: null,
    api_source: null,
    quantity: null,
    quantity_unit: null,
    ...more,
  })
  const results = async (query: Query) => (await costs(app, { end_time: first + dayS, ...query })).data[0]?.results
  assert.deepEqual(await results({}), [cost(2.500000001)])
  assert.deepEqual(await results({ group_by: ['line_item'] }), [
    cost(0.500000001, { line_item: 'double-chat-2026-11-01' }),
    cost(2, { line_item: 'other' }),
  ])
  assert.deepEqual(
    await results({ group_by: ['project_id'], line_items: ['double-chat-2026-11-01'], project_ids: [app.other.id] }),
    [cost(0.5, { project_id: app.other.id })],
  )
  assert.equal((await costs(app, { end_time: first + 400 * dayS, limit: 180 })).data.length, 180)
  const wide = await app.call(retrieveCosts, { query: { start_time: first, limit: 181 } })
  assert.deepEqual(refusalOf(wide), [400, 'integer_above_max_value', 'limit'])
  const hourly = await app.call(retrieveCosts, { query: { start_time: first, bucket_width: '1h' } })
  assert.deepEqual(refusalOf(hourly), [400, 'invalid_value', 'bucket_width'])
})

test('what a request used can be read right after it, with its key and its price', async (t) => {
  const app = await testApp(t)
  const start_time = Math.floor((await app.db.now()).getTime() / 1_000) - 60
  const body = { model: 'double-chat', messages: [{ role: 'user', content: 'Hello' }] }
  const said = await app.call(createChatCompletion, { body })
  assert.equal(said.status, 200, said.text)
  const { usage: used } = said.body as { usage: { prompt_tokens: number; completion_tokens: number } }
  const { data } = await usage(app, { start_time, group_by: ['model', 'project_id'] })
  const results = data.flatMap((bucket) => bucket.results)
  assert.deepEqual(
    results.map((one) => [one.input_tokens, one.output_tokens, one.num_model_requests, one.model, one.project_id]),
    [[used.prompt_tokens, used.completion_tokens, 1, 'double-chat-2026-11-01', app.project.id]],
  )
  const spent = (await costs(app, { start_time })).data.flatMap((bucket) => bucket.results)
  const cached = results[0]?.input_cached_tokens ?? 0
  const micros = (used.prompt_tokens - cached) * 1 + cached * 0.1 + used.completion_tokens * 4
  assert.deepEqual(
    spent.map(({ amount }) => amount.value),
    [Math.round(micros * 1_000) / 1e9],
  )
})

test('all kinds of usage have the same buckets and refuse the same mistakes', async (t) => {
  const app = await testApp(t)
  const span = { start_time: first, end_time: first + 2 * dayS }
  for (const operation of usageOperations) {
    const ask = async (query: Query) => {
      const reply = await app.call(operation as typeof retrieveCompletionsUsage, { query })
      return reply.status === 200 ? reply.body.data.length : refusalOf(reply)
    }
    assert.equal(await ask(span), 2, operation.id)
    assert.equal(await ask({ ...span, bucket_width: '1h' }), 24)
    assert.equal(await ask({ ...span, bucket_width: '1m', limit: 1_440 }), 1_440)
    assert.equal(await ask({ ...span, group_by: ['project_id'], project_ids: [app.project.id] }), 2)
    assert.deepEqual(await ask({}), [400, 'missing_required_parameter', 'start_time'])
    assert.deepEqual(await ask({ ...span, limit: 32 }), [400, 'integer_above_max_value', 'limit'])
    assert.deepEqual(await ask({ ...span, limit: 0 }), [400, 'integer_below_min_value', 'limit'])
    assert.deepEqual(await ask({ ...span, bucket_width: '1w' }), [400, 'invalid_value', 'bucket_width'])
    assert.deepEqual(await ask({ ...span, group_by: ['colour'] }), [400, 'invalid_value', 'group_by[0]'])
    assert.deepEqual(await ask({ ...span, end_time: first }), [400, 'invalid_value', 'end_time'])
    assert.deepEqual(await ask({ ...span, page: 'page_1' }), [400, 'invalid_value', 'page'])
    assert.deepEqual(await ask({ ...span, colour: 'red' }), [400, 'unknown_parameter', 'colour'])
  }
})
