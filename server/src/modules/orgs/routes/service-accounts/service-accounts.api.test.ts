import { listFiles } from '@switchyard/contracts/files.ts'
import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import {
  createServiceAccount,
  createServiceAccountKey,
  deleteServiceAccount,
  listServiceAccounts,
  retrieveServiceAccount,
  updateServiceAccount,
} from '@switchyard/contracts/organization/service-accounts.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '../../../../../test/test-app.ts'
import { auditOf, auditTypesOf, newRobot, opens, refusalOf } from '../../testing/orgs-kit.ts'

test('a service account comes with a key that works at once and is shown this once', async (t) => {
  const app = await testApp(t)
  const params = { project_id: app.project.id }
  const made = await app.call(createServiceAccount, { params, body: { name: 'robot', expires_in_seconds: 3_600 } })
  assert.equal(made.status, 200, made.text)
  const { api_key: key, ...account } = made.body
  assert.ok(key !== null)
  assert.match(key.value, /^sk-svcacct-/)
  assert.equal(key.expires_at, key.created_at + 3_600)
  assert.deepEqual([key.object, key.name], ['organization.project.service_account.api_key', 'Secret Key'])
  assert.deepEqual(account, {
    id: account.id,
    object: 'organization.project.service_account',
    name: 'robot',
    role: 'member',
    created_at: account.created_at,
  })
  assert.equal(await opens(app, key.value), true)
  const accountParams = { ...params, service_account_id: account.id }
  assert.deepEqual((await app.call(retrieveServiceAccount, { params: accountParams })).body, account)
  assert.deepEqual((await app.call(listServiceAccounts, { params })).body.data, [account])
  assert.deepEqual(
    (await auditOf(app, account.id)).map((entry) => entry['service_account.created']),
    [{ id: account.id, data: { name: 'robot', role: 'member' } }],
  )
  const [keyMade] = await auditOf(app, key.id)
  assert.deepEqual(keyMade?.['api_key.created'], {
    id: key.id,
    data: { kind: 'service_account', name: 'Secret Key', scopes: [] },
  })
})

test('an account made alone has no key and no role, and a key of it opens nothing until it has one', async (t) => {
  const app = await testApp(t)
  const params = { project_id: app.project.id }
  const made = await app.call(createServiceAccount, {
    params,
    body: { name: 'alone', create_service_account_only: true, expires_in_seconds: null },
  })
  assert.deepEqual([made.body.api_key, made.body.role], [null, 'none'])
  const accountParams = { ...params, service_account_id: made.body.id }
  const key = await app.call(createServiceAccountKey, { params: accountParams })
  assert.equal(key.status, 200, key.text)
  assert.equal(await opens(app, key.body.value), false)
  const changed = await app.call(updateServiceAccount, { params: accountParams, body: { role: 'member', name: 'b' } })
  assert.deepEqual([changed.body.role, changed.body.name], ['member', 'b'])
  assert.equal(await opens(app, key.body.value), true)
  assert.deepEqual((await app.call(updateServiceAccount, { params: accountParams, body: {} })).body, changed.body)
  assert.deepEqual(await auditTypesOf(app, made.body.id), ['service_account.updated', 'service_account.created'])
})

test('a key can be restricted to scopes, which are enforced and named when they lack', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const params = { project_id: app.project.id, service_account_id: robot.id }
  const mint = (scopes: string[]) => app.call(createServiceAccountKey, { params, body: { name: 'narrow', scopes } })
  const reads = (await mint(['api.files.read'])).body.value
  const writes = (await mint(['files.write'])).body.value
  assert.equal((await app.call(listFiles, { key: reads })).status, 200)
  const refused = await app.call(listFiles, { key: writes })
  assert.deepEqual(refusalOf(refused), [403, 'insufficient_permissions', null])
  assert.match(refused.error.message, /files\.read/)
  assert.deepEqual(refusalOf(await mint(['files.read', 'files.fly'])), [400, 'invalid_value', 'scopes[1]'])
})

test('deleting a service account ends all its keys at once', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const params = { project_id: app.project.id, service_account_id: robot.id }
  const second = (await app.call(createServiceAccountKey, { params })).body.value
  const gone = await app.call(deleteServiceAccount, { params })
  assert.deepEqual(gone.body, {
    id: robot.id,
    object: 'organization.project.service_account.deleted',
    deleted: true,
  })
  assert.deepEqual([await opens(app, robot.key), await opens(app, second)], [false, false])
  assert.deepEqual((await auditOf(app, robot.id))[0]?.['service_account.deleted'], {
    id: robot.id,
    api_keys_revoked: 2,
  })
  const after = { params }
  for (const reply of [
    await app.call(retrieveServiceAccount, after),
    await app.call(deleteServiceAccount, after),
    await app.call(updateServiceAccount, { ...after, body: { name: 'x' } }),
    await app.call(updateServiceAccount, { ...after, body: {} }),
    await app.call(createServiceAccountKey, after),
  ]) {
    assert.deepEqual([reply.status, reply.error.message], [404, 'No such service account.'])
  }
  // Whoever deletes while paging can go on.
  const query = { after: robot.id }
  assert.equal((await app.call(listServiceAccounts, { params: { project_id: app.project.id }, query })).status, 200)
})

test('bad input is refused by name', async (t) => {
  const app = await testApp(t)
  const params = { project_id: app.project.id }
  const create = async (body: unknown) => refusalOf(await app.call(createServiceAccount, { params, body }))
  assert.deepEqual(await create({}), [400, 'missing_required_parameter', 'name'])
  const expires_in_seconds = 0
  assert.deepEqual(await create({ name: 'a', expires_in_seconds }), [
    400,
    'integer_below_min_value',
    'expires_in_seconds',
  ])
  const contradiction = { name: 'a', create_service_account_only: true, expires_in_seconds: 60 }
  assert.deepEqual(await create(contradiction), [400, 'mutually_exclusive_parameters', 'expires_in_seconds'])
  const robot = await newRobot(app)
  const update = await app.call(updateServiceAccount, {
    params: { ...params, service_account_id: robot.id },
    body: { role: 'none' },
  })
  assert.deepEqual(refusalOf(update), [400, 'invalid_value', 'role'])
  const list = await app.call(listServiceAccounts, { params, query: { after: 'svcacct_none' } })
  assert.deepEqual(refusalOf(list), [400, 'invalid_value', 'after'])
})

test('nothing is made, changed or deleted in an archived project', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const params = { project_id: app.project.id }
  await app.call(archiveProject, { params })
  const accountParams = { ...params, service_account_id: robot.id }
  for (const reply of [
    await app.call(createServiceAccount, { params, body: { name: 'late' } }),
    await app.call(createServiceAccountKey, { params: accountParams }),
    await app.call(updateServiceAccount, { params: accountParams, body: { name: 'x' } }),
    await app.call(deleteServiceAccount, { params: accountParams }),
  ]) {
    assert.deepEqual(refusalOf(reply), [409, 'invalid_state_transition', null])
  }
  assert.equal((await app.call(listServiceAccounts, { params })).body.data.length, 1)
})

test('a service account is found in its own project and organisation only', async (t) => {
  const app = await testApp(t)
  const robot = await newRobot(app)
  const elsewhere = { project_id: app.other.id, service_account_id: robot.id }
  const foreign = { project_id: app.otherOrg.project.id, service_account_id: robot.id }
  const read = async (params: Record<string, string>) => (await app.call(retrieveServiceAccount, { params })).error
  assert.equal((await read(elsewhere)).message, 'No such service account.')
  assert.equal((await read(foreign)).message, 'No such project.')
  const mint = await app.call(createServiceAccountKey, { params: elsewhere })
  assert.deepEqual([mint.status, mint.error.code], [404, 'not_found'])
  for (const operation of [listServiceAccounts, createServiceAccount]) {
    const reply = await app.call(operation, {
      params: { project_id: app.otherOrg.project.id },
      ...(operation.method === 'POST' ? { body: { name: 'a' } } : {}),
    })
    assert.deepEqual([reply.status, reply.error.message], [404, 'No such project.'])
  }
})
