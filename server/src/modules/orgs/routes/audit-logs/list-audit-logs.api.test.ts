import { listAuditLogs, type AuditLog } from '@switchyard/contracts/organization/audit-logs.ts'
import { createProject } from '@switchyard/contracts/organization/projects.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp, type TestApp } from '../../../../../test/test-app.ts'
import { newPerson, newRobot, orgIdOf, refusalOf } from '../../testing/orgs-kit.ts'

type Query = Record<string, string | number | boolean | string[]>

async function list(app: TestApp, query: Query = {}): Promise<AuditLog[]> {
  const reply = await app.call(listAuditLogs, { query: { limit: 100, ...query } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}

test('the log is paged both ways, newest first', async (t) => {
  const app = await testApp(t)
  for (const name of ['a', 'b', 'c']) await app.call(createProject, { body: { name } })
  const all = await list(app)
  const ids = all.map(({ id }) => id)
  assert.ok(ids.length > 6)
  assert.equal(all.at(-1)?.type, 'organization.created')
  const page = (query: Query) => app.call(listAuditLogs, { query: { limit: 2, ...query } })
  const first = (await page({})).body
  assert.deepEqual([first.data.map(({ id }) => id), first.has_more], [ids.slice(0, 2), true])
  const second = (await page({ after: first.last_id ?? '' })).body
  assert.deepEqual([second.data.map(({ id }) => id), second.last_id], [ids.slice(2, 4), ids[3]])
  const back = (await page({ before: ids[4] ?? '' })).body
  assert.deepEqual([back.data.map(({ id }) => id), back.first_id, back.has_more], [ids.slice(2, 4), ids[2], true])
  const start = (await page({ before: ids[1] ?? '' })).body
  assert.deepEqual([start.data.map(({ id }) => id), start.has_more], [ids.slice(0, 1), false])
})

test('entries are found by type, project, target, actor, address and time, all at once if wanted', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const owner = await newPerson(app, { role: 'owner' })
  const { key, keyId } = await app.orgs.mintAdminKey({ orgId: orgIdOf(app), name: 'hers', userId: owner.id })
  const { body: project } = await app.call(createProject, { body: { name: 'hers' }, key })
  const types = async (query: Query) => (await list(app, query)).map(({ type }) => type)

  assert.deepEqual(await types({ resource_ids: [robot.id] }), ['service_account.created'])
  assert.deepEqual(await types({ event_types: ['invite.sent', 'invite.accepted'] }), ['invite.accepted', 'invite.sent'])
  assert.deepEqual(await types({ event_types: ['login.failed'] }), [])
  assert.deepEqual(await types({ project_ids: [project.id] }), ['project.created'])
  assert.deepEqual(await types({ actor_ids: [keyId] }), ['project.created'])
  const hers = ['project.created', 'user.added', 'invite.accepted']
  assert.deepEqual(await types({ actor_ids: [owner.id] }), hers)
  assert.deepEqual(await types({ actor_emails: [owner.email.toUpperCase()] }), hers)
  const both = { actor_ids: [owner.id], event_types: ['project.created'], project_ids: [project.id] }
  const [entry, ...rest] = await list(app, both)
  assert.equal(rest.length, 0)
  assert.deepEqual(entry?.actor, {
    type: 'api_key',
    api_key: { id: keyId, type: 'user', user: { id: owner.id, email: owner.email } },
  })
  const at = entry?.effective_at ?? 0
  const during = async (bounds: Record<string, number>) =>
    types({
      project_ids: [project.id],
      ...Object.fromEntries(Object.entries(bounds).map(([k, v]) => [`effective_at[${k}]`, v])),
    })
  assert.deepEqual(await during({ gte: at, lte: at }), ['project.created'])
  assert.deepEqual(await during({ gt: at - 1, lt: at + 1 }), ['project.created'])
  assert.deepEqual(await during({ gt: at }), [])
  assert.deepEqual(await during({ lt: at }), [])
})

test('an organisation sees its own log only', async (t) => {
  const app = await testApp(t)
  const foreign = await app.call(listAuditLogs, { key: app.otherOrg.adminKey })
  const ids = new Set((await list(app)).map(({ id }) => id))
  assert.ok(foreign.body.data.length > 0)
  assert.ok(foreign.body.data.every(({ id }) => !ids.has(id)))
  const after = foreign.body.data[0]?.id ?? ''
  const reply = await app.call(listAuditLogs, { query: { after } })
  const unknown = await app.call(listAuditLogs, { query: { after: 'audit_log-none' } })
  assert.deepEqual(refusalOf(reply), [400, 'invalid_value', 'after'])
  assert.equal(reply.text, unknown.text)
})

test('bad input is refused by name', async (t) => {
  const app = await testApp(t)
  const refused = async (query: Query) => refusalOf(await app.call(listAuditLogs, { query }))
  const [entry] = await list(app)
  const id = entry?.id ?? ''
  assert.deepEqual(await refused({ after: id, before: id }), [400, 'mutually_exclusive_parameters', 'before'])
  assert.deepEqual(await refused({ before: 'audit_log-none' }), [400, 'invalid_value', 'before'])
  assert.deepEqual(await refused({ tenant_only: true }), [400, 'unsupported_value', 'tenant_only'])
  assert.deepEqual(await refused({ event_types: ['DROP TABLE'] }), [400, 'invalid_value', 'event_types[0]'])
  assert.deepEqual(await refused({ 'effective_at[since]': 1 }), [400, 'unknown_parameter', 'effective_at.since'])
  const late = { 'effective_at[lte]': 1e15 }
  assert.deepEqual(await refused(late), [400, 'integer_above_max_value', 'effective_at.lte'])
  assert.equal((await refused({ 'effective_at[gt]': 'soon' }))[2], 'effective_at.gt')
})
