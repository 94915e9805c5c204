import {
  createProjectUser,
  deleteProjectUser,
  listProjectUsers,
  retrieveProjectUser,
  updateProjectUser,
} from '@switchyard/contracts/organization/project-users.ts'
import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#platform/std/ids.ts'
import { testApp } from '../../../../../test/test-app.ts'
import { auditOf, newPerson, refusalOf } from '../../testing/orgs-kit.ts'

test('a member of the organisation is added to a project, changes role and leaves', async (t) => {
  const app = await testApp(t)
  const person = await newPerson(app)
  const project = { project_id: app.project.id }
  const params = { ...project, user_id: person.id }
  const added = await app.call(createProjectUser, { params: project, body: { user_id: person.id, role: 'member' } })
  assert.equal(added.status, 200, added.text)
  assert.deepEqual(added.body, {
    id: person.id,
    object: 'organization.project.user',
    name: 'A person',
    email: person.email,
    role: 'member',
    added_at: added.body.added_at,
  })
  assert.deepEqual((await app.call(retrieveProjectUser, { params })).body, added.body)
  assert.deepEqual((await app.call(listProjectUsers, { params: project })).body.data, [added.body])
  const raised = await app.call(updateProjectUser, { params, body: { role: 'owner' } })
  assert.deepEqual(raised.body, { ...added.body, role: 'owner' })
  assert.deepEqual((await app.call(updateProjectUser, { params, body: { role: null } })).body, raised.body)
  const gone = await app.call(deleteProjectUser, { params })
  assert.deepEqual(gone.body, { id: person.id, object: 'organization.project.user.deleted', deleted: true })
  const entries = (await auditOf(app, person.id)).filter(({ project }) => project !== undefined)
  assert.deepEqual(
    entries.map(({ type }) => type),
    ['user.deleted', 'user.updated', 'user.added'],
  )
  for (const reply of [
    await app.call(retrieveProjectUser, { params }),
    await app.call(updateProjectUser, { params, body: { role: 'owner' } }),
    await app.call(deleteProjectUser, { params }),
  ]) {
    assert.deepEqual([reply.status, reply.error.message], [404, 'No such user.'])
  }
  // Whoever removes people while paging can go on.
  const next = await app.call(listProjectUsers, { params: project, query: { after: person.id } })
  assert.equal(next.status, 200)
})

test('a person can be named by e-mail address, whatever its case, and added once', async (t) => {
  const app = await testApp(t)
  const person = await newPerson(app, { email: 'sam@example.com' })
  const params = { project_id: app.project.id }
  const added = await app.call(createProjectUser, { params, body: { email: 'Sam@Example.com', role: 'owner' } })
  assert.deepEqual([added.status, added.body.id], [200, person.id])
  const again = await app.call(createProjectUser, { params, body: { user_id: person.id, role: 'member' } })
  assert.deepEqual(refusalOf(again), [409, 'already_exists', null])
  assert.equal(again.headers.get('x-should-retry'), 'false')
})

test('who is not in the organisation cannot be added, be they unknown or of another one', async (t) => {
  const app = await testApp(t)
  const foreign = await newPerson(app, { key: app.otherOrg.adminKey })
  const params = { project_id: app.project.id }
  const add = async (body: unknown) => app.call(createProjectUser, { params, body })
  for (const user_id of [foreign.id, newId('user-')]) {
    const reply = await add({ user_id, role: 'member' })
    assert.deepEqual([...refusalOf(reply), reply.error.message], [404, 'not_found', 'user_id', 'No such user.'])
  }
  for (const email of [foreign.email, 'nobody@example.com']) {
    const reply = await add({ email, role: 'member' })
    assert.deepEqual([...refusalOf(reply), reply.error.message], [404, 'not_found', 'email', 'No such user.'])
  }
})

test('bad input is refused by name', async (t) => {
  const app = await testApp(t)
  const params = { project_id: app.project.id }
  const add = async (body: unknown) => refusalOf(await app.call(createProjectUser, { params, body }))
  assert.deepEqual(await add({ user_id: 'user-1' }), [400, 'missing_required_parameter', 'role'])
  assert.deepEqual(await add({ role: 'member' }), [400, 'missing_required_parameter', 'user_id'])
  const both = { role: 'member', user_id: 'user-1', email: 'a@example.com' }
  assert.deepEqual(await add(both), [400, 'mutually_exclusive_parameters', 'email'])
  assert.deepEqual(await add({ role: 'reader', user_id: 'user-1' }), [400, 'invalid_value', 'role'])
  assert.deepEqual(await add({ role: 'member', email: 'no address' }), [400, 'invalid_value', 'email'])
  const list = await app.call(listProjectUsers, { params, query: { after: 'somebody' } })
  assert.deepEqual(refusalOf(list), [400, 'invalid_value', 'after'])
})

test('a project of another organisation does not exist, and an archived one does not change', async (t) => {
  const app = await testApp(t)
  const person = await newPerson(app, { projects: [{ id: app.project.id, role: 'member' }] })
  await app.call(archiveProject, { params: { project_id: app.project.id } })
  for (const [project_id, status] of [
    [app.otherOrg.project.id, 404],
    [app.project.id, 409],
  ] as const) {
    const params = { project_id, user_id: person.id }
    const replies = [
      await app.call(createProjectUser, { params: { project_id }, body: { user_id: person.id, role: 'member' } }),
      await app.call(updateProjectUser, { params, body: { role: 'owner' } }),
      await app.call(deleteProjectUser, { params }),
    ]
    assert.deepEqual(
      replies.map((reply) => reply.status),
      [status, status, status],
    )
  }
  const foreign = { project_id: app.otherOrg.project.id, user_id: person.id }
  assert.equal((await app.call(retrieveProjectUser, { params: foreign })).status, 404)
  assert.equal((await app.call(listProjectUsers, { params: foreign })).status, 404)
})
