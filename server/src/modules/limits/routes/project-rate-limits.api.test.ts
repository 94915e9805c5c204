import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  listProjectRateLimits,
  updateProjectRateLimit,
} from '@switchyard/contracts/organization/project-rate-limits.ts'
import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import { refusalOf } from '#modules/orgs/testing/orgs-kit.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { limitsFile } from '../testing/limits-kit.ts'

const chat = 'double-chat-2026-11-01'
const anthropic = 'double-anthropic-2026-11-01'

async function list(app: TestApp, query: Record<string, string | number> = {}, project_id: string = app.project.id) {
  const reply = await app.call(listProjectRateLimits, { params: { project_id }, query })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const update = (app: TestApp, group: string, body: unknown, project_id: string = app.project.id) =>
  app.call(updateProjectRateLimit, { params: { project_id, rate_limit_id: `rl-${group}` }, body })

const tier1 = {
  object: 'project.rate_limit',
  max_requests_per_1_minute: 500,
  max_tokens_per_1_minute: 200_000,
  max_images_per_1_minute: 5,
  max_audio_megabytes_per_1_minute: 10,
  max_audio_minutes_per_1_minute: 10,
  max_requests_per_1_day: 10_000,
  batch_1_day_max_input_tokens: 2_000_000,
}

// S3-8.1-a S3-8.1-b S3-8.3
test('a family shares one limit, a model of its own has one, and a project lowers them for itself alone', async (t) => {
  const own = { models: { [chat]: { tier_1: { requests_per_minute: 50, tokens_per_day: 900_000 } } } }
  const app = await testApp(t, await limitsFile(t, own))
  await app.wired.limits.pinTier(app.org.id, 'tier_1')
  const family = { ...tier1, id: 'rl-double', model: 'double' }
  const alone = {
    ...tier1,
    id: `rl-${chat}`,
    model: chat,
    max_requests_per_1_minute: 50,
    max_tokens_per_1_day: 900_000,
  }
  const all = { object: 'list', data: [family, alone], first_id: 'rl-double', last_id: `rl-${chat}`, has_more: false }
  assert.deepEqual(await list(app), all)

  const lowered = await update(app, 'double', { max_requests_per_1_minute: 20, max_audio_megabytes_per_1_minute: 4 })
  const shown = {
    ...family,
    max_requests_per_1_minute: 20,
    max_audio_megabytes_per_1_minute: 4,
    max_audio_minutes_per_1_minute: 4,
  }
  assert.deepEqual([lowered.status, lowered.body], [200, shown], lowered.text)
  assert.deepEqual(await list(app), { ...all, data: [shown, alone] })
  assert.deepEqual(await list(app, {}, app.other.id), all)

  // What is left out stays, null is the organisation's again, and a day's tokens are limited where the tier has no limit.
  const further = await update(app, 'double', {
    max_requests_per_1_minute: null,
    max_tokens_per_1_day: 1_000,
    max_tokens_per_1_minute: 200_000,
  })
  assert.deepEqual(further.body, { ...shown, max_requests_per_1_minute: 500, max_tokens_per_1_day: 1_000 })
  assert.deepEqual((await update(app, 'double', {})).body, further.body)
})

test('a limit above that of the organisation is refused by name, whatever the tier; a lower tier shows lower numbers', async (t) => {
  const app = await testApp(t)
  await app.wired.limits.pinTier(app.org.id, 'tier_1')
  const refused = async (body: Record<string, number>) => refusalOf(await update(app, 'double', body))
  for (const [field, most] of [
    ['max_requests_per_1_minute', 500],
    ['max_tokens_per_1_minute', 200_000],
    ['max_images_per_1_minute', 5],
    ['max_audio_megabytes_per_1_minute', 10],
    ['max_audio_minutes_per_1_minute', 10],
    ['max_requests_per_1_day', 10_000],
    ['batch_1_day_max_input_tokens', 2_000_000],
  ] as const) {
    assert.deepEqual(await refused({ [field]: most + 1 }), [400, 'invalid_value', field])
    assert.equal((await update(app, 'double', { [field]: most })).status, 200)
  }
  assert.deepEqual(await refused({ max_tokens_per_1_minute: 0 }), [
    400,
    'integer_below_min_value',
    'max_tokens_per_1_minute',
  ])
  assert.deepEqual(await refused({ max_audio_minutes_per_1_minute: 2, max_audio_megabytes_per_1_minute: 3 }), [
    400,
    'invalid_value',
    'max_audio_minutes_per_1_minute',
  ])
  await app.wired.limits.pinTier(app.org.id, 'free')
  assert.equal((await list(app)).data[0]?.max_requests_per_1_minute, 3)
})

test('without limits of the organisation a project shows what it has set, and null for the rest', async (t) => {
  const app = await testApp(t)
  const { data } = await list(app)
  const none = { max_requests_per_1_minute: null, max_tokens_per_1_minute: null }
  assert.deepEqual(data, [{ id: 'rl-double', object: 'project.rate_limit', model: 'double', ...none }])
  const set = await update(app, 'double', { max_requests_per_1_minute: 7 })
  assert.deepEqual([set.status, set.body.max_requests_per_1_minute], [200, 7])
})

test('pages go forwards and backwards over the groups', async (t) => {
  const none = { free: {} }
  const app = await testApp(t, await limitsFile(t, { models: { [chat]: none, [anthropic]: none } }))
  const ids = async (query: Record<string, string | number>) => {
    const page = await list(app, query)
    return [page.data.map(({ id }) => id), page.has_more]
  }
  const [first, second, third] = ['rl-double', `rl-${anthropic}`, `rl-${chat}`] as const
  assert.deepEqual(await ids({}), [[first, second, third], false])
  assert.deepEqual(await ids({ limit: 2 }), [[first, second], true])
  assert.deepEqual(await ids({ limit: 2, after: second }), [[third], false])
  assert.deepEqual(await ids({ limit: 1, before: third }), [[second], true])
  assert.deepEqual(await ids({ limit: 2, before: third }), [[first, second], false])
  const bad = async (query: Record<string, string>) =>
    refusalOf(await app.call(listProjectRateLimits, { params: { project_id: app.project.id }, query }))
  assert.deepEqual(await bad({ after: 'rl-none' }), [400, 'invalid_value', 'after'])
  assert.deepEqual(await bad({ before: 'rl-none' }), [400, 'invalid_value', 'before'])
  assert.deepEqual(await bad({ after: first, before: first }), [400, 'mutually_exclusive_parameters', 'before'])
  assert.deepEqual(await bad({ limit: '101' }), [400, 'integer_above_max_value', 'limit'])
})

test('a foreign project and an unknown group do not exist, and an archived project is not changed', async (t) => {
  const app = await testApp(t)
  const foreign = await update(app, 'double', { max_requests_per_1_minute: 1 }, app.otherOrg.project.id)
  assert.deepEqual(refusalOf(foreign), [404, 'not_found', null])
  assert.deepEqual(refusalOf(await update(app, 'single', {})), [404, 'not_found', null])
  await app.call(archiveProject, { params: { project_id: app.other.id } })
  const closed = await update(app, 'double', { max_requests_per_1_minute: 1 }, app.other.id)
  assert.deepEqual(refusalOf(closed), [409, 'invalid_state_transition', null])
  assert.equal((await list(app, {}, app.other.id)).data.length, 1)
})
