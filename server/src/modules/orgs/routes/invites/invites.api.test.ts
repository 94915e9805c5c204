import { createInvite, deleteInvite, listInvites, retrieveInvite } from '@switchyard/contracts/organization/invites.ts'
import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp, type TestApp } from '../../../../../test/test-app.ts'
import { auditOf, auditTypesOf, newPerson, refusalOf } from '../../testing/orgs-kit.ts'

const passTime = (app: TestApp, id: string) =>
  sql`update orgs.invite set expires_at = clock_timestamp() where id = ${id}`.execute(app.db.kysely)

test('an invite is sent for seven days, is read and listed, and can be taken back', async (t) => {
  const app = await testApp(t)
  const projects = [{ id: app.project.id, role: 'member' }]
  const sent = await app.call(createInvite, { body: { email: 'Ann@Example.com', role: 'reader', projects } })
  assert.equal(sent.status, 200, sent.text)
  const { id, created_at } = sent.body
  assert.deepEqual(sent.body, {
    id,
    object: 'organization.invite',
    email: 'ann@example.com',
    role: 'reader',
    status: 'pending',
    projects,
    created_at,
    expires_at: created_at + 7 * 86_400,
    accepted_at: null,
  })
  const params = { invite_id: id }
  assert.deepEqual((await app.call(retrieveInvite, { params })).body, sent.body)
  assert.deepEqual((await app.call(listInvites)).body.data, [sent.body])
  const gone = await app.call(deleteInvite, { params })
  assert.deepEqual(gone.body, { id, object: 'organization.invite.deleted', deleted: true })
  for (const operation of [retrieveInvite, deleteInvite]) {
    const reply = await app.call(operation, { params })
    assert.deepEqual([reply.status, reply.error.message], [404, 'No such invite.'])
  }
  const [deleted, created] = await auditOf(app, id)
  assert.equal(deleted?.type, 'invite.deleted')
  assert.deepEqual(created?.['invite.sent'], { id, data: { email: 'ann@example.com', role: 'reader' } })
  assert.equal((await app.call(listInvites, { query: { after: id } })).status, 200)
})

test('an invite expires by itself, can then be deleted or sent anew, and is never accepted late', async (t) => {
  const app = await testApp(t)
  const body = { email: 'late@example.com', role: 'reader' }
  const sent = await app.call(createInvite, { body })
  const again = await app.call(createInvite, { body })
  assert.deepEqual(refusalOf(again), [409, 'already_exists', 'email'])
  await passTime(app, sent.body.id)
  const params = { invite_id: sent.body.id }
  assert.equal((await app.call(retrieveInvite, { params })).body.status, 'expired')
  const inviteId = sent.body.id
  await assert.rejects(app.orgs.acceptInvite({ inviteId, email: body.email, name: 'Late' }), { code: 'not_found' })
  assert.equal((await app.call(createInvite, { body })).status, 200)
  assert.equal((await app.call(deleteInvite, { params })).status, 200)
})

test('an accepted invite says so, cannot be taken back, and its person cannot be invited again', async (t) => {
  const app = await testApp(t)
  const person = await newPerson(app, { email: 'here@example.com' })
  const [invite] = (await app.call(listInvites)).body.data
  assert.ok(invite !== undefined)
  assert.deepEqual([invite.status, invite.email], ['accepted', person.email])
  assert.ok(invite.accepted_at !== null)
  const refused = await app.call(deleteInvite, { params: { invite_id: invite.id } })
  assert.deepEqual(refusalOf(refused), [409, 'invalid_state_transition', null])
  const again = await app.call(createInvite, { body: { email: person.email, role: 'owner' } })
  assert.deepEqual(refusalOf(again), [409, 'already_exists', 'email'])
  assert.deepEqual(await auditTypesOf(app, invite.id), ['invite.accepted', 'invite.sent'])
})

test('an invite names open projects of the organisation, each once', async (t) => {
  const app = await testApp(t)
  await app.call(archiveProject, { params: { project_id: app.other.id } })
  const invite = async (...ids: string[]) => {
    const projects = ids.map((id) => ({ id, role: 'member' }))
    return app.call(createInvite, { body: { email: 'ann@example.com', role: 'reader', projects } })
  }
  for (const id of [app.otherOrg.project.id, 'proj_none']) {
    const reply = await invite(app.project.id, id)
    const expected = [404, 'not_found', 'projects[1].id', 'No such project.']
    assert.deepEqual([...refusalOf(reply), reply.error.message], expected)
  }
  assert.deepEqual(refusalOf(await invite(app.other.id)), [409, 'invalid_state_transition', 'projects[0].id'])
  const twice = await invite(app.project.id, app.project.id)
  assert.deepEqual(refusalOf(twice), [400, 'invalid_value', 'projects[1].id'])
})

test('bad input is refused by name, and the invites of another organisation do not exist', async (t) => {
  const app = await testApp(t)
  const create = async (body: unknown) => refusalOf(await app.call(createInvite, { body }))
  assert.deepEqual(await create({ role: 'reader' }), [400, 'missing_required_parameter', 'email'])
  assert.deepEqual(await create({ email: 'nobody', role: 'reader' }), [400, 'invalid_value', 'email'])
  assert.deepEqual(await create({ email: 'a@example.com', role: 'member' }), [400, 'invalid_value', 'role'])
  const after = await app.call(listInvites, { query: { after: 'invite-none' } })
  assert.deepEqual(refusalOf(after), [400, 'invalid_value', 'after'])
  const body = { email: 'a@example.com', role: 'reader' }
  const foreign = await app.call(createInvite, { body, key: app.otherOrg.adminKey })
  for (const invite_id of [foreign.body.id, 'invite-none']) {
    for (const operation of [retrieveInvite, deleteInvite]) {
      const reply = await app.call(operation, { params: { invite_id } })
      assert.deepEqual([reply.status, reply.error.message], [404, 'No such invite.'])
    }
  }
  assert.deepEqual((await app.call(listInvites)).body.data, [])
})
