import { listFiles } from '@switchyard/contracts/files.ts'
import {
  deleteProjectApiKey,
  listProjectApiKeys,
  retrieveProjectApiKey,
  rotateProjectApiKey,
  updateProjectApiKey,
} from '@switchyard/contracts/organization/project-api-keys.ts'
import { deleteProjectUser } from '@switchyard/contracts/organization/project-users.ts'
import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp, type TestApp } from '../../../../../test/test-app.ts'
import {
  auditOf,
  auditTypesOf,
  expireKeyIn,
  newPerson,
  newRobot,
  opens,
  orgIdOf,
  projectIdOf,
  refusalOf,
} from '../../testing/orgs-kit.ts'

const paramsOf = (app: TestApp, keyId: string) => ({ project_id: app.project.id, key_id: keyId })

test('a key shows its owner, its last four characters and its restrictions, never its value', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const reply = await app.call(retrieveProjectApiKey, { params: paramsOf(app, robot.keyId) })
  assert.equal(reply.status, 200, reply.text)
  const { created_at, owner } = reply.body
  assert.deepEqual(reply.body, {
    id: robot.keyId,
    object: 'organization.project.api_key',
    name: 'Secret Key',
    redacted_value: `sk-svcacct-...${robot.key.slice(-4)}`,
    scopes: [],
    created_at,
    last_used_at: null,
    expires_at: null,
    owner: {
      type: 'service_account',
      service_account: {
        id: robot.id,
        name: 'robot',
        role: 'member',
        created_at: owner.service_account?.created_at,
      },
    },
    owner_project_access: 'active',
  })
  const list = await app.call(listProjectApiKeys, { params: { project_id: app.project.id } })
  assert.deepEqual(list.body.data[0], reply.body)
  assert.deepEqual([list.body.data.length, list.body.data[1]?.owner], [2, {}])
  assert.equal(list.text.includes(robot.key), false)
})

test('a key of a person works while they are in the project, and the list says so', async (t) => {
  const app = await testApp(t)
  const person = await newPerson(app, { projects: [{ id: app.project.id, role: 'member' }] })
  const { key, keyId } = await app.orgs.mintProjectKey({
    orgId: orgIdOf(app),
    projectId: projectIdOf(app),
    name: 'laptop',
    userId: person.id,
  })
  const shown = await app.call(retrieveProjectApiKey, { params: paramsOf(app, keyId) })
  assert.deepEqual(shown.body.owner, {
    type: 'user',
    user: {
      id: person.id,
      name: 'A person',
      email: person.email,
      role: 'member',
      created_at: shown.body.owner.user?.created_at,
    },
  })
  assert.equal(await opens(app, key), true)
  const userParams = { project_id: app.project.id, user_id: person.id }
  assert.equal((await app.call(deleteProjectUser, { params: userParams })).status, 200)
  assert.equal(await opens(app, key), false)
  const ids = async (owner_project_access: string) => {
    const params = { project_id: app.project.id }
    const reply = await app.call(listProjectApiKeys, { params, query: { owner_project_access } })
    return reply.body.data.map(({ id }) => id)
  }
  assert.deepEqual(await ids('inactive'), [keyId])
  assert.equal((await ids('active')).includes(keyId), false)
  assert.equal((await ids('any')).includes(keyId), true)
})

test('an owner of the organisation uses a key of any project', async (t) => {
  const app = await testApp(t)
  const owner = await newPerson(app, { role: 'owner' })
  const wanted = { orgId: orgIdOf(app), projectId: projectIdOf(app), name: 'laptop', userId: owner.id }
  const { key, keyId } = await app.orgs.mintProjectKey(wanted)
  assert.equal(await opens(app, key), true)
  const shown = await app.call(retrieveProjectApiKey, { params: paramsOf(app, keyId) })
  assert.equal(shown.body.owner.user?.role, 'owner')
})

test('scopes and expiry of a key change at once and for both together', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const params = paramsOf(app, robot.keyId)
  const changed = await app.call(updateProjectApiKey, {
    params,
    body: { scopes: ['files.write'], expires_in_seconds: 60 },
  })
  assert.deepEqual(changed.body.scopes, ['files.write'])
  assert.ok(changed.body.expires_at !== null && changed.body.expires_at - Date.now() / 1_000 < 61)
  assert.equal((await app.call(listFiles, { key: robot.key })).status, 403)
  const cleared = await app.call(updateProjectApiKey, { params, body: { scopes: [] } })
  assert.deepEqual([cleared.body.scopes, cleared.body.expires_at], [[], changed.body.expires_at])
  assert.equal(await opens(app, robot.key), true)
  assert.deepEqual((await auditOf(app, robot.keyId))[1]?.['api_key.updated'], {
    id: robot.keyId,
    changes_requested: { scopes: ['files.write'], expires_in_seconds: 60 },
  })
})

test('a key is refused from its second of expiry on, and can then only be deleted', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const params = paramsOf(app, robot.keyId)
  await expireKeyIn(app, robot.keyId, 60)
  assert.equal(await opens(app, robot.key), true)
  await expireKeyIn(app, robot.keyId, 0)
  assert.equal(await opens(app, robot.key), false)
  const update = await app.call(updateProjectApiKey, { params, body: { expires_in_seconds: 60 } })
  assert.deepEqual(refusalOf(update), [409, 'invalid_state_transition', null])
  const rotate = await app.call(rotateProjectApiKey, { params })
  assert.deepEqual(refusalOf(rotate), [409, 'invalid_state_transition', null])
  assert.equal((await app.call(deleteProjectApiKey, { params })).status, 200)
})

test('a deleted key is refused at once and is gone', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const params = paramsOf(app, robot.keyId)
  const gone = await app.call(deleteProjectApiKey, { params })
  assert.deepEqual(gone.body, { id: robot.keyId, object: 'organization.project.api_key.deleted', deleted: true })
  assert.equal(await opens(app, robot.key), false)
  for (const reply of [
    await app.call(retrieveProjectApiKey, { params }),
    await app.call(deleteProjectApiKey, { params }),
    await app.call(updateProjectApiKey, { params, body: { scopes: [] } }),
    await app.call(rotateProjectApiKey, { params }),
  ]) {
    assert.deepEqual([reply.status, reply.error.message], [404, 'No such API key.'])
  }
  assert.deepEqual(await auditTypesOf(app, robot.keyId), ['api_key.deleted', 'api_key.created'])
})

test('a rotated key works until its overlap ends, and its successor from the start', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const params = paramsOf(app, robot.keyId)
  await app.call(updateProjectApiKey, { params, body: { scopes: ['files.read'] } })
  const rotated = await app.call(rotateProjectApiKey, { params, body: { overlap_seconds: 3_600 } })
  assert.equal(rotated.status, 200, rotated.text)
  const { value, replaces, ...key } = rotated.body
  assert.notEqual(value, robot.key)
  assert.deepEqual([key.name, key.scopes, key.expires_at], ['Secret Key', ['files.read'], null])
  assert.equal(key.owner.service_account?.id, robot.id)
  assert.equal(replaces.id, robot.keyId)
  assert.deepEqual([await opens(app, robot.key), await opens(app, value)], [true, true])
  await expireKeyIn(app, robot.keyId, 0)
  assert.deepEqual([await opens(app, robot.key), await opens(app, value)], [false, true])
  assert.deepEqual((await auditOf(app, robot.keyId))[0]?.['api_key.rotated'], {
    id: robot.keyId,
    data: { replaced_by: key.id, overlap_seconds: 3_600 },
  })
})

test('without an overlap the old key ends with the reply, and a key has one successor', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const rotated = await app.call(rotateProjectApiKey, { params: paramsOf(app, robot.keyId) })
  assert.deepEqual([await opens(app, robot.key), await opens(app, rotated.body.value)], [false, true])
  const slow = await newRobot(app)
  const params = paramsOf(app, slow.keyId)
  const first = await app.call(rotateProjectApiKey, { params, body: { overlap_seconds: 60 } })
  assert.equal(first.status, 200)
  const second = await app.call(rotateProjectApiKey, { params, body: { overlap_seconds: 60 } })
  assert.deepEqual(refusalOf(second), [409, 'invalid_state_transition', null])
})

test('a key with a lifetime gets a successor with the same lifetime, and keeps an end that comes earlier', async (t) => {
  const app = await testApp(t)
  const { keyId } = await app.orgs.mintProjectKey({
    orgId: orgIdOf(app),
    projectId: projectIdOf(app),
    name: 'hourly',
    expiresInSeconds: 3_600,
  })
  const before = (await app.call(retrieveProjectApiKey, { params: paramsOf(app, keyId) })).body
  const rotated = await app.call(rotateProjectApiKey, {
    params: paramsOf(app, keyId),
    body: { overlap_seconds: 86_400 },
  })
  const { created_at, expires_at, replaces } = rotated.body
  assert.equal(expires_at, created_at + 3_600)
  assert.equal(replaces.expires_at, before.expires_at)
})

test('the same Idempotency-Key gives the same new key again, and what is kept of it is sealed', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const call = () =>
    app.call(rotateProjectApiKey, {
      params: paramsOf(app, robot.keyId),
      body: { overlap_seconds: 60 },
      headers: { 'idempotency-key': 'rotate-once' },
    })
  const first = await call()
  const second = await call()
  assert.equal(first.status, 200, first.text)
  assert.deepEqual(second.body, first.body)
  const { rows } = await sql<{ reply: string; minutes: number }>`
    select reply, extract(epoch from expires_at - clock_timestamp()) / 60 as minutes
      from platform.idempotency`.execute(app.db.kysely)
  assert.equal(rows.length, 1)
  assert.equal(rows[0]?.reply.includes(first.body.value), false)
  assert.ok((rows[0]?.minutes ?? 60) <= 10)
})

test('bad input is refused by name', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const params = paramsOf(app, robot.keyId)
  const update = async (body: unknown) => refusalOf(await app.call(updateProjectApiKey, { params, body }))
  assert.deepEqual(await update({}), [400, 'missing_required_parameter', 'scopes'])
  assert.deepEqual(await update({ scopes: null }), [400, 'invalid_type', 'scopes'])
  assert.deepEqual(await update({ scopes: ['organization.read'] }), [400, 'invalid_value', 'scopes[0]'])
  const tooLong = { expires_in_seconds: 10 * 365 * 86_400 + 1 }
  assert.deepEqual(await update(tooLong), [400, 'integer_above_max_value', 'expires_in_seconds'])
  const rotate = async (body: unknown) => refusalOf(await app.call(rotateProjectApiKey, { params, body }))
  assert.deepEqual(await rotate({ overlap_seconds: -1 }), [400, 'integer_below_min_value', 'overlap_seconds'])
  assert.deepEqual(await rotate({ overlap_seconds: 2_592_001 }), [400, 'integer_above_max_value', 'overlap_seconds'])
  const list = async (query: Record<string, string>) =>
    refusalOf(await app.call(listProjectApiKeys, { params: { project_id: app.project.id }, query }))
  assert.deepEqual(await list({ owner_project_access: 'some' }), [400, 'invalid_value', 'owner_project_access'])
  assert.deepEqual(await list({ after: 'key_none' }), [400, 'invalid_value', 'after'])
})

test('keys of an archived project can be read and not changed', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const params = paramsOf(app, robot.keyId)
  await app.call(archiveProject, { params: { project_id: app.project.id } })
  assert.equal((await app.call(retrieveProjectApiKey, { params })).status, 200)
  for (const reply of [
    await app.call(updateProjectApiKey, { params, body: { scopes: [] } }),
    await app.call(deleteProjectApiKey, { params }),
    await app.call(rotateProjectApiKey, { params }),
  ]) {
    assert.deepEqual(refusalOf(reply), [409, 'invalid_state_transition', null])
  }
})

test('a key is found in its own project only, and not among the admin keys', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  for (const project_id of [app.other.id, app.otherOrg.project.id]) {
    const params = { project_id, key_id: robot.keyId }
    for (const reply of [
      await app.call(retrieveProjectApiKey, { params }),
      await app.call(updateProjectApiKey, { params, body: { scopes: [] } }),
      await app.call(deleteProjectApiKey, { params }),
      await app.call(rotateProjectApiKey, { params }),
    ]) {
      assert.deepEqual([reply.status, reply.error.code], [404, 'not_found'])
    }
  }
  const foreign = await app.call(listProjectApiKeys, { params: { project_id: app.otherOrg.project.id } })
  assert.deepEqual([foreign.status, foreign.error.message], [404, 'No such project.'])
  assert.equal(await opens(app, robot.key), true)
})
