import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  createContainer,
  deleteContainer,
  listContainers,
  retrieveContainer,
} from '@switchyard/contracts/containers.ts'
import { createFile } from '@switchyard/contracts/files.ts'
import { sql } from 'kysely'
import { fileForm } from '#modules/files/testing/file-forms.ts'
import type { TestApp } from '../../../../test/test-app.ts'
import { allowDomains, newContainer, readContainer } from '../testing/containers-kit.ts'
import { sandboxApp } from '../testing/sandbox-app.ts'
import { zipOf } from '../testing/skill-forms.ts'
import { newSkill } from '../testing/skills-kit.ts'

const canary = 'value-that-nobody-may-see-77123'

/** Nothing here needs a machine; a host has to be up all the same. */
const startApp = (t: TestContext, settings: Record<string, string> = {}) =>
  sandboxApp(t, { runtime: 'runc', settings: { SWITCHYARD_SANDBOX_POOL: '0', ...settings } })

async function refusal(app: TestApp, body: Record<string, unknown>) {
  const { status, error, text } = await app.call(createContainer, { body: { name: 'work', ...body } })
  assert.doesNotMatch(text, new RegExp(canary))
  return [status, error?.code, error?.param]
}

// S1-2.3-a S1-2.3-b S1-2.3-c S1-2.3-d S1-2.3-e S1-2.3-g S1-2.3-h S1-3-a S1-4.2-a S1-4.2-b
test('a container is active from the start, with a default for everything but its name', async (t) => {
  const app = await startApp(t)
  const { id, created_at, last_active_at, expires_at, ...rest } = await newContainer(app, { name: 'Data desk' })
  assert.match(id, /^cntr_[0-9a-z]{26}$/)
  assert.deepEqual([last_active_at, expires_at], [created_at, created_at + 20 * 60])
  assert.deepEqual(rest, {
    object: 'container',
    name: 'Data desk',
    status: 'active',
    expires_after: { anchor: 'last_active_at', minutes: 20 },
    memory_limit: '1g',
    network_policy: { type: 'disabled' },
    skills: [],
  })
})

// S1-1.3-b S1-2.2-a S1-2.2-b S1-2.3-f S1-2.4-a S1-2.4-b S1-2.4-c S1-2.4-d S1-2.4-e S1-5.2-a
test('a container echoes every field that it was given, and the content of none', async (t) => {
  const app = await startApp(t)
  await allowDomains(app, ['example.com', '*.example.org'])
  const skill = await newSkill(app)
  const file = await app.call(createFile, { body: fileForm('a,b\n', { filename: 'rows.csv' }) })
  const data = (await zipOf({ 'notes.txt': canary })).toString('base64')
  const given = {
    memory_limit: '4g',
    expires_after: { anchor: 'last_active_at', minutes: 3 },
    network_policy: { type: 'allowlist', allowed_domains: ['EXAMPLE.com', 'api.example.org'] },
    skills: [
      { type: 'skill_reference', skill_id: skill.id, version: 'latest' },
      {
        type: 'inline',
        name: 'notes',
        description: 'Notes.',
        source: { type: 'base64', media_type: 'application/zip', data },
      },
    ],
    file_ids: [file.body.id],
  }
  const made = await newContainer(app, given)
  assert.deepEqual(made.memory_limit, '4g')
  assert.deepEqual(made.expires_after, given.expires_after)
  assert.equal(made.expires_at, made.last_active_at + 3 * 60)
  assert.deepEqual(made.network_policy, { type: 'allowlist', allowed_domains: ['example.com', 'api.example.org'] })
  assert.deepEqual(made.skills, [
    { type: 'skill_reference', skill_id: skill.id, version: '1', name: 'csv-workbench' },
    { type: 'inline', name: 'notes' },
  ])
  assert.deepEqual(await readContainer(app, made.id), made)
  assert.ok(!JSON.stringify(made).includes(data))
})

// S1-7.1 S1-7.6 S1-8.2-a S1-8.2-b S1-8.4
test('a container that cannot be had is refused, the error says where, and nothing is made', async (t) => {
  const app = await startApp(t)
  const policy = (...allowed_domains: string[]) => ({ network_policy: { type: 'allowlist', allowed_domains } })
  assert.deepEqual(await refusal(app, policy('example.com')), [
    400,
    'domain_not_allowed',
    'network_policy.allowed_domains[0]',
  ])
  await allowDomains(app, ['example.com', '*.example.org'])
  const refused: [Record<string, unknown>, string, string][] = [
    [{ memory_limit: '2g' }, 'invalid_value', 'memory_limit'],
    [{ name: '' }, 'string_below_min_length', 'name'],
    [{ name: 'x'.repeat(257) }, 'string_above_max_length', 'name'],
    [{ expires_after: { anchor: 'last_active_at', minutes: 0 } }, 'integer_below_min_value', 'expires_after.minutes'],
    [
      { expires_after: { anchor: 'last_active_at', minutes: 1_441 } },
      'integer_above_max_value',
      'expires_after.minutes',
    ],
    [{ expires_after: { anchor: 'created_at', minutes: 5 } }, 'invalid_value', 'expires_after.anchor'],
    [policy('example.com', 'other.example'), 'domain_not_allowed', 'network_policy.allowed_domains[1]'],
    [policy('www.example.com'), 'domain_not_allowed', 'network_policy.allowed_domains[0]'],
    [policy('example.org'), 'domain_not_allowed', 'network_policy.allowed_domains[0]'],
    [policy('*.example.com'), 'domain_not_allowed', 'network_policy.allowed_domains[0]'],
  ]
  for (const [body, code, param] of refused) assert.deepEqual(await refusal(app, body), [400, code, param])
  assert.deepEqual(await refusal(app, { file_ids: ['file-none'] }), [404, 'not_found', 'file_ids[0]'])
  const foreign = await app.call(createFile, { body: fileForm(), key: app.other.key })
  assert.deepEqual(await refusal(app, { file_ids: [foreign.body.id] }), [404, 'not_found', 'file_ids[0]'])
  const unknown = { skills: [{ type: 'skill_reference', skill_id: 'skill_none' }] }
  assert.deepEqual(await refusal(app, unknown), [404, 'not_found', 'skills[0].skill_id'])
  assert.deepEqual((await app.call(listContainers)).body.data, [])
  const { rows } = await sql`select id from containers.container`.execute(app.db.kysely)
  assert.deepEqual(rows, [])
})

// S1-2.2-c S1-2.2-d S1-2.2-e S1-2.2-h S1-5.3-d
test('secrets are for domains of their request, and their values are shown to nobody', async (t) => {
  const app = await startApp(t)
  await allowDomains(app, ['example.com', '*.example.org'])
  const withSecrets = (...domain_secrets: Record<string, string>[]) => ({
    network_policy: { type: 'allowlist', allowed_domains: ['example.com', '*.example.org'], domain_secrets },
  })
  const at = (index: number, field: string) => `network_policy.domain_secrets[${index}].${field}`
  const good = { domain: 'Example.com', name: 'TOKEN', value: canary }
  const refused: [Record<string, string>[], string, string][] = [
    [[{ ...good, domain: 'other.example' }], 'invalid_value', at(0, 'domain')],
    [[{ ...good, domain: 'a.example.org' }], 'invalid_value', at(0, 'domain')],
    [[{ ...good, domain: '*.example.org' }], 'invalid_value', at(0, 'domain')],
    [[good, good], 'invalid_value', at(1, 'name')],
    [[{ ...good, name: 'TWO WORDS' }], 'invalid_value', at(0, 'name')],
    [[{ ...good, value: `${canary}\r\nX-Other: 1` }], 'invalid_value', at(0, 'value')],
    [[{ domain: 'example.com', name: 'TOKEN' }], 'missing_required_parameter', at(0, 'value')],
  ]
  for (const [secrets, code, param] of refused) {
    assert.deepEqual(await refusal(app, withSecrets(...secrets)), [400, code, param])
  }
  const made = await app.call(createContainer, { body: { name: 'work', ...withSecrets(good) } })
  assert.equal(made.status, 200, made.text)
  assert.deepEqual(made.body.network_policy, { type: 'allowlist', allowed_domains: ['example.com', '*.example.org'] })
  const listed = await app.call(listContainers)
  assert.equal(listed.body.data.length, 1)
  const { rows } = await sql<{ row: string }>`select to_jsonb(c)::text as row from containers.container c`.execute(
    app.db.kysely,
  )
  for (const text of [made.text, listed.text, JSON.stringify(rows), await app.log()]) {
    assert.doesNotMatch(text, new RegExp(canary))
  }
})

// S1-8.4
test('a project has so many active containers and no more, until one is deleted', async (t) => {
  const app = await startApp(t, { SWITCHYARD_CONTAINERS_ACTIVE_MAX: '2' })
  const { id } = await newContainer(app)
  await newContainer(app)
  const reply = await app.call(createContainer, { body: { name: 'third' } })
  assert.deepEqual(
    [reply.status, reply.error.code, reply.headers.get('x-should-retry')],
    [429, 'container_limit_exceeded', 'false'],
  )
  assert.equal((await app.call(createContainer, { body: { name: 'other' }, key: app.other.key })).status, 200)
  await app.call(deleteContainer, { params: { container_id: id } })
  await newContainer(app)
  const more = await Promise.all(
    Array.from({ length: 5 }, () => app.call(createContainer, { body: { name: 'x' }, key: app.other.key })),
  )
  assert.deepEqual(
    more.map(({ status }) => String(status)).toSorted(),
    ['200', '429', '429', '429', '429'],
    'also when asked at once',
  )
})

test('containers are listed by page, in both orders and by name, and pages survive deletions', async (t) => {
  const app = await startApp(t)
  const ids: string[] = []
  for (const name of ['a', 'b', 'a', 'b', 'a']) ids.push((await newContainer(app, { name })).id)
  const list = async (query: Record<string, string | number>) => {
    const { status, body, text } = await app.call(listContainers, { query })
    assert.equal(status, 200, text)
    return [body.data.map(({ id }) => ids.indexOf(id)), body.has_more]
  }
  assert.deepEqual(await list({}), [[4, 3, 2, 1, 0], false])
  assert.deepEqual(await list({ order: 'asc', limit: 2 }), [[0, 1], true])
  assert.deepEqual(await list({ order: 'asc', limit: 2, after: ids[1] ?? '' }), [[2, 3], true])
  assert.deepEqual(await list({ limit: 2, after: ids[1] ?? '' }), [[0], false])
  assert.deepEqual(await list({ name: 'a' }), [[4, 2, 0], false])
  assert.deepEqual(await list({ name: 'a', limit: 1, after: ids[4] ?? '' }), [[2], true])
  assert.deepEqual(await list({ name: 'none' }), [[], false])
  await app.call(deleteContainer, { params: { container_id: ids[3] ?? '' } })
  assert.deepEqual(await list({ limit: 2, after: ids[3] ?? '' }), [[2, 1], true])
  const unknown = await app.call(listContainers, { query: { after: 'cntr_none' } })
  assert.deepEqual([unknown.status, unknown.error.code, unknown.error.param], [400, 'invalid_value', 'after'])
  for (const limit of [0, 101]) assert.equal((await app.call(listContainers, { query: { limit } })).status, 400)
})

// S1-3-e S1-4.3-a
test('reading a container is no activity; deleting it answers once and leaves nothing', async (t) => {
  const app = await startApp(t)
  const { id } = await newContainer(app)
  await sql`update containers.container set last_active_at = last_active_at - interval '5 minutes'`.execute(
    app.db.kysely,
  )
  const before = await readContainer(app, id)
  assert.deepEqual(await readContainer(app, id), before)
  const params = { container_id: id }
  const gone = await app.call(deleteContainer, { params })
  assert.deepEqual(gone.body, { id, object: 'container.deleted', deleted: true, status: 'deleted' })
  for (const operation of [deleteContainer, retrieveContainer]) {
    const reply = await app.call(operation, { params })
    assert.deepEqual([reply.status, reply.error.code], [404, 'container_not_found'])
    assert.ok(reply.error.message.includes(id))
  }
  assert.deepEqual((await app.call(listContainers)).body.data, [])
})
