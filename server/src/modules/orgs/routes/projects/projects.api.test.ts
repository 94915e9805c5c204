import {
  archiveProject,
  createProject,
  listProjects,
  retrieveProject,
  updateProject,
} from '@switchyard/contracts/organization/projects.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '../../../../../test/test-app.ts'
import { auditOf, auditTypesOf, newRobot, opens, refusalOf } from '../../testing/orgs-kit.ts'

test('a project is created, read, renamed and listed, and each change stands in the audit log', async (t) => {
  const app = await testApp(t)
  const made = await app.call(createProject, { body: { name: 'One', residency: 'GLOBAL', external_key_id: null } })
  assert.equal(made.status, 200, made.text)
  const { id, created_at } = made.body
  assert.match(id, /^proj_[a-z0-9]{1,8}_[0-9a-z]{26}$/)
  assert.deepEqual(made.body, {
    id,
    object: 'organization.project',
    name: 'One',
    created_at,
    archived_at: null,
    status: 'active',
    residency: 'GLOBAL',
    external_key_id: null,
  })
  assert.deepEqual((await app.call(retrieveProject, { params: { project_id: id } })).body, made.body)
  const renamed = await app.call(updateProject, { params: { project_id: id }, body: { name: 'Two' } })
  assert.deepEqual(renamed.body, { ...made.body, name: 'Two' })
  const unchanged = await app.call(updateProject, { params: { project_id: id }, body: { name: null } })
  assert.deepEqual(unchanged.body, renamed.body)
  assert.deepEqual((await app.call(listProjects)).body.data[0], renamed.body)

  const [updated, created, ...rest] = await auditOf(app, id)
  assert.equal(rest.length, 0)
  assert.deepEqual(updated?.['project.updated'], { id, changes_requested: { name: 'Two', title: 'Two' } })
  assert.deepEqual(created?.['project.created'], { id, data: { name: 'One', title: 'One' } })
  assert.equal(created.request_id, made.headers.get('x-request-id'))
  assert.deepEqual(created.project, { id, name: 'Two' })
})

test('an archived project is closed for good: its keys stop, nothing in it changes, archiving again is the same', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app, app.other.id)
  const params = { project_id: app.other.id }
  assert.deepEqual([await opens(app, robot.key), await opens(app, app.other.key)], [true, true])
  const archived = await app.call(archiveProject, { params })
  assert.deepEqual([archived.status, archived.body.status], [200, 'archived'])
  assert.deepEqual([await opens(app, robot.key), await opens(app, app.other.key)], [false, false])
  assert.equal(await opens(app, app.project.key), true)
  assert.deepEqual((await app.call(archiveProject, { params })).body, archived.body)
  const rename = await app.call(updateProject, { params, body: { name: 'Again' } })
  assert.deepEqual(refusalOf(rename), [409, 'invalid_state_transition', null])
  assert.equal(rename.headers.get('x-should-retry'), 'false')
  assert.deepEqual(await auditTypesOf(app, app.other.id), ['project.archived', 'project.created'])
})

test('archived projects are listed only when asked for', async (t) => {
  const app = await testApp(t)
  await app.call(archiveProject, { params: { project_id: app.other.id } })
  const ids = async (query: Record<string, boolean>) =>
    (await app.call(listProjects, { query })).body.data.map(({ id }) => id)
  assert.deepEqual(await ids({}), [app.project.id])
  assert.deepEqual(await ids({ include_archived: false }), [app.project.id])
  assert.deepEqual(await ids({ include_archived: true }), [app.other.id, app.project.id])
})

test('pages follow each other without gap or repetition', async (t) => {
  const app = await testApp(t)
  for (const name of ['a', 'b', 'c']) await app.call(createProject, { body: { name } })
  const all = (await app.call(listProjects)).body
  assert.deepEqual([all.data.length, all.has_more, all.last_id], [5, false, all.data[4]?.id])
  const met: string[] = []
  let after: string | undefined
  do {
    const page = (await app.call(listProjects, { query: { limit: 2, ...(after === undefined ? {} : { after }) } })).body
    met.push(...page.data.map(({ id }) => id))
    after = page.has_more ? (page.last_id ?? undefined) : undefined
  } while (after !== undefined)
  assert.deepEqual(
    met,
    all.data.map(({ id }) => id),
  )
})

test('what cannot be promised or understood is refused by name', async (t) => {
  const app = await testApp(t)
  const create = async (body: unknown) => refusalOf(await app.call(createProject, { body }))
  const name = 'One'
  assert.deepEqual(await create({}), [400, 'missing_required_parameter', 'name'])
  assert.deepEqual(await create({ name: '' }), [400, 'string_below_min_length', 'name'])
  assert.deepEqual(await create({ name: 'x'.repeat(201) }), [400, 'string_above_max_length', 'name'])
  assert.deepEqual(await create({ name, colour: 'red' }), [400, 'unknown_parameter', 'colour'])
  assert.deepEqual(await create({ name, residency: 'MOON' }), [400, 'invalid_value', 'residency'])
  assert.deepEqual(await create({ name, residency: 'JP_STORAGE' }), [400, 'unsupported_value', 'residency'])
  assert.deepEqual(await create({ name, geography: 'EU' }), [400, 'unsupported_value', 'geography'])
  assert.deepEqual(await create({ name, external_key_id: 'k' }), [400, 'unsupported_value', 'external_key_id'])
  assert.deepEqual(await create({ name, residency: 'GLOBAL', geography: 'GLOBAL' }), [
    400,
    'mutually_exclusive_parameters',
    'geography',
  ])
  const params = { project_id: app.project.id }
  const update = async (body: unknown) => refusalOf(await app.call(updateProject, { params, body }))
  assert.deepEqual(await update({ geography: 'EU' }), [400, 'unsupported_value', 'geography'])
  assert.deepEqual(await update({ external_key_id: 'k' }), [400, 'unsupported_value', 'external_key_id'])
  const list = async (query: Record<string, string>) => refusalOf(await app.call(listProjects, { query }))
  assert.deepEqual(await list({ after: app.otherOrg.project.id }), [400, 'invalid_value', 'after'])
  assert.deepEqual(await list({ after: 'proj_none' }), [400, 'invalid_value', 'after'])
  assert.deepEqual(await list({ limit: '101' }), [400, 'integer_above_max_value', 'limit'])
  assert.deepEqual(await list({ include_archived: 'yes' }), [400, 'invalid_value', 'include_archived'])
})

test('a project of another organisation does not exist', async (t) => {
  const app = await testApp(t)
  for (const project_id of [app.otherOrg.project.id, 'proj_none']) {
    const params = { project_id }
    const replies = [
      await app.call(retrieveProject, { params }),
      await app.call(updateProject, { params, body: { name: 'Mine' } }),
      await app.call(archiveProject, { params }),
    ]
    for (const reply of replies) {
      assert.deepEqual([reply.status, reply.error.code, reply.error.message], [404, 'not_found', 'No such project.'])
    }
  }
  assert.equal(await opens(app, app.otherOrg.project.key), true)
})
