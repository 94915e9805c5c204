import { createAdminApiKey } from '@switchyard/contracts/organization/admin-api-keys.ts'
import { retrieveOrganization } from '@switchyard/contracts/organization/organization.ts'
import { retrieveProjectApiKey } from '@switchyard/contracts/organization/project-api-keys.ts'
import { retrieveProjectUser } from '@switchyard/contracts/organization/project-users.ts'
import { deleteUser, listUsers, retrieveUser, updateUser } from '@switchyard/contracts/organization/users.ts'
import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#platform/std/ids.ts'
import { testApp } from '../../../../../test/test-app.ts'
import { auditOf, newPerson, opens, orgIdOf, projectIdOf, refusalOf } from '../../testing/orgs-kit.ts'

test('members are listed, found by address, read and given another role', async (t) => {
  const app = await testApp(t)
  const owner = await newPerson(app, { role: 'owner', email: 'olive@example.com' })
  const reader = await newPerson(app, { email: 'rita@example.com' })
  const list = await app.call(listUsers)
  assert.deepEqual(
    list.body.data.map(({ id }) => id),
    [reader.id, owner.id],
  )
  const found = await app.call(listUsers, { query: { emails: ['Rita@example.com', 'nobody@example.com'] } })
  assert.deepEqual(found.body.data, [list.body.data[0]])
  const read = await app.call(retrieveUser, { params: { user_id: reader.id } })
  assert.deepEqual(read.body, {
    id: reader.id,
    object: 'organization.user',
    name: 'A person',
    email: 'rita@example.com',
    role: 'reader',
    added_at: read.body.added_at,
    created: read.body.created,
    is_service_account: false,
  })
  const raised = await app.call(updateUser, { params: { user_id: reader.id }, body: { role: 'owner' } })
  assert.deepEqual(raised.body, { ...read.body, role: 'owner' })
  const [entry] = await auditOf(app, reader.id)
  assert.deepEqual(entry?.['user.updated'], { id: reader.id, changes_requested: { role: 'owner' } })
  const page = await app.call(listUsers, { query: { limit: 1, after: reader.id } })
  assert.deepEqual([page.body.data[0]?.id, page.body.has_more], [owner.id, false])
})

test('the last owner can be neither removed nor demoted', async (t) => {
  const app = await testApp(t)
  const owner = await newPerson(app, { role: 'owner' })
  const params = { user_id: owner.id }
  for (const reply of [
    await app.call(updateUser, { params, body: { role: 'reader' } }),
    await app.call(deleteUser, { params }),
  ]) {
    assert.deepEqual(refusalOf(reply), [409, 'invalid_state_transition', null])
    assert.equal(reply.headers.get('x-should-retry'), 'false')
  }
  assert.equal((await app.call(retrieveUser, { params })).body.role, 'owner')
  await newPerson(app, { role: 'owner' })
  assert.equal((await app.call(updateUser, { params, body: { role: 'reader' } })).body.role, 'reader')
  assert.equal((await app.call(deleteUser, { params })).status, 200)
})

test('who leaves the organisation leaves its projects, and their keys end for good', async (t) => {
  const app = await testApp(t)
  const email = 'back@example.com'
  const projects = [{ id: app.project.id, role: 'member' as const }]
  const person = await newPerson(app, { email, projects })
  const wanted = { orgId: orgIdOf(app), projectId: projectIdOf(app), name: 'laptop', userId: person.id }
  const { key, keyId } = await app.orgs.mintProjectKey(wanted)
  assert.equal(await opens(app, key), true)
  const gone = await app.call(deleteUser, { params: { user_id: person.id } })
  assert.deepEqual(gone.body, { id: person.id, object: 'organization.user.deleted', deleted: true })
  assert.equal(await opens(app, key), false)
  const inProject = { project_id: app.project.id, user_id: person.id }
  assert.equal((await app.call(retrieveProjectUser, { params: inProject })).status, 404)
  assert.deepEqual((await auditOf(app, person.id))[0]?.['user.deleted'], { id: person.id, api_keys_revoked: 1 })
  // The same person comes back as themselves, but their old key does not.
  assert.equal((await newPerson(app, { email, projects })).id, person.id)
  assert.equal(await opens(app, key), false)
  const keyParams = { project_id: app.project.id, key_id: keyId }
  assert.equal((await app.call(retrieveProjectApiKey, { params: keyParams })).status, 404)
})

test('an admin key of a person works while they are an owner, and never goes as the last one', async (t) => {
  const app = await testApp(t)
  await newPerson(app, { role: 'owner' })
  const owner = await newPerson(app, { role: 'owner' })
  const { key } = await app.orgs.mintAdminKey({ orgId: orgIdOf(app), name: 'hers', userId: owner.id })
  const second = await app.call(createAdminApiKey, { body: { name: 'from hers' }, key })
  assert.equal(second.body.owner.id, owner.id)
  await sql`update orgs.api_key set revoked_at = clock_timestamp()
    where kind = 'admin' and org_id = ${app.org.id} and user_id is null`.execute(app.db.kysely)
  const params = { user_id: owner.id }
  for (const reply of [
    await app.call(updateUser, { params, body: { role: 'reader' }, key }),
    await app.call(deleteUser, { params, key }),
  ]) {
    assert.deepEqual(refusalOf(reply), [409, 'invalid_state_transition', null])
  }
  const { key: spare } = await app.orgs.mintAdminKey({ orgId: orgIdOf(app), name: 'spare' })
  assert.equal((await app.call(updateUser, { params, body: { role: 'reader' }, key })).status, 200)
  assert.equal((await app.call(retrieveOrganization, { key })).status, 401)
  assert.equal((await app.call(retrieveOrganization, { key: second.body.value })).status, 401)
  assert.equal((await app.call(retrieveOrganization, { key: spare })).status, 200)
})

test('bad input is refused by name', async (t) => {
  const app = await testApp(t)
  const person = await newPerson(app)
  const params = { user_id: person.id }
  const update = async (body: unknown) => refusalOf(await app.call(updateUser, { params, body }))
  assert.deepEqual(await update({ role: 'member' }), [400, 'invalid_value', 'role'])
  for (const param of ['role_id', 'developer_persona', 'technical_level']) {
    assert.deepEqual(await update({ [param]: 'x' }), [400, 'unsupported_value', param])
  }
  assert.equal((await app.call(updateUser, { params, body: { role: null, role_id: null } })).status, 200)
  const list = async (query: Record<string, string | string[]>) => refusalOf(await app.call(listUsers, { query }))
  assert.deepEqual(await list({ after: app.org.id }), [400, 'invalid_value', 'after'])
  assert.deepEqual(await list({ emails: ['nobody'] }), [400, 'invalid_value', 'emails[0]'])
})

test('a member of another organisation does not exist', async (t) => {
  const app = await testApp(t)
  const foreign = await newPerson(app, { key: app.otherOrg.adminKey })
  for (const user_id of [foreign.id, newId('user-')]) {
    const params = { user_id }
    for (const reply of [
      await app.call(retrieveUser, { params }),
      await app.call(updateUser, { params, body: { role: 'owner' } }),
      await app.call(deleteUser, { params }),
    ]) {
      assert.deepEqual([reply.status, reply.error.message], [404, 'No such user.'])
    }
  }
  const found = await app.call(listUsers, { query: { emails: [foreign.email] } })
  assert.deepEqual(found.body.data, [])
})
