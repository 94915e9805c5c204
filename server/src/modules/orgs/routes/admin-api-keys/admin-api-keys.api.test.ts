import {
  createAdminApiKey,
  deleteAdminApiKey,
  listAdminApiKeys,
  retrieveAdminApiKey,
  rotateAdminApiKey,
} from '@switchyard/contracts/organization/admin-api-keys.ts'
import { retrieveOrganization, updateOrganization } from '@switchyard/contracts/organization/organization.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp, type TestApp } from '../../../../../test/test-app.ts'
import { auditOf, expireKeyIn, newRobot, refusalOf } from '../../testing/orgs-kit.ts'

const admits = async (app: TestApp, key: string) => (await app.call(retrieveOrganization, { key })).status === 200

async function newKey(app: TestApp, body: Record<string, unknown> = {}, key = app.org.adminKey) {
  const made = await app.call(createAdminApiKey, { body: { name: 'made', ...body }, key })
  assert.equal(made.status, 200, made.text)
  return made.body
}

test('an admin key is shown once, works, expires, is listed in both orders and is gone when deleted', async (t) => {
  const app = await testApp(t)
  const { value, ...made } = await newKey(app, { expires_in_seconds: 3_600 })
  assert.match(value, /^sk-admin-/)
  assert.deepEqual(made, {
    id: made.id,
    object: 'organization.admin_api_key',
    name: 'made',
    redacted_value: `sk-admin-...${value.slice(-4)}`,
    scopes: [],
    created_at: made.created_at,
    last_used_at: null,
    expires_at: made.created_at + 3_600,
    owner: {
      type: 'organization',
      object: 'organization',
      id: app.org.id,
      name: 'First',
      created_at: made.owner.created_at,
      role: 'owner',
    },
  })
  assert.equal(await admits(app, value), true)
  const params = { key_id: made.id }
  assert.deepEqual((await app.call(retrieveAdminApiKey, { params })).body, made)
  const names = async (order?: string) => {
    const query: Record<string, string> = order === undefined ? {} : { order }
    return (await app.call(listAdminApiKeys, { query })).body.data.map(({ name }) => name)
  }
  assert.deepEqual(await names(), ['made', 'First admin key'])
  assert.deepEqual(await names('asc'), ['First admin key', 'made'])
  const [first] = (await app.call(listAdminApiKeys, { query: { order: 'asc', limit: 1 } })).body.data
  const next = await app.call(listAdminApiKeys, { query: { order: 'asc', after: first?.id ?? '' } })
  assert.deepEqual(next.body.data, [made])
  await expireKeyIn(app, made.id, 0)
  assert.equal(await admits(app, value), false)
  const gone = await app.call(deleteAdminApiKey, { params })
  assert.deepEqual(gone.body, { id: made.id, object: 'organization.admin_api_key.deleted', deleted: true })
  for (const operation of [retrieveAdminApiKey, deleteAdminApiKey, rotateAdminApiKey]) {
    const reply = await app.call(operation, { params })
    assert.deepEqual([reply.status, reply.error.message], [404, 'No such API key.'])
  }
  const [deleted, created] = await auditOf(app, made.id)
  assert.equal(deleted?.type, 'api_key.deleted')
  assert.deepEqual(created?.['api_key.created'], { id: made.id, data: { kind: 'admin', name: 'made', scopes: [] } })
})

test('the last admin key in force cannot be deleted, however many have expired', async (t) => {
  const app = await testApp(t)
  const spare = await newKey(app)
  const [, first] = (await app.call(listAdminApiKeys)).body.data
  assert.ok(first !== undefined)
  await expireKeyIn(app, spare.id, 0)
  const params = { key_id: first.id }
  const refused = await app.call(deleteAdminApiKey, { params })
  assert.deepEqual(refusalOf(refused), [409, 'invalid_state_transition', null])
  assert.equal(await admits(app, app.org.adminKey), true)
  await expireKeyIn(app, spare.id, 60)
  assert.equal((await app.call(deleteAdminApiKey, { params })).status, 200)
  assert.equal(await admits(app, app.org.adminKey), false)
  assert.equal(await admits(app, spare.value), true)
})

test('an admin key replaces itself, and the old value works until the overlap ends', async (t) => {
  const app = await testApp(t)
  const key = await newKey(app)
  const rotated = await app.call(rotateAdminApiKey, {
    params: { key_id: key.id },
    body: { overlap_seconds: 60 },
    key: key.value,
  })
  assert.equal(rotated.status, 200, rotated.text)
  assert.equal(rotated.body.replaces.id, key.id)
  assert.deepEqual([await admits(app, key.value), await admits(app, rotated.body.value)], [true, true])
  await expireKeyIn(app, key.id, 0)
  assert.deepEqual([await admits(app, key.value), await admits(app, rotated.body.value)], [false, true])
  const again = await app.call(rotateAdminApiKey, { params: { key_id: key.id } })
  assert.deepEqual(refusalOf(again), [409, 'invalid_state_transition', null])
})

test('a restricted admin key does what its scopes say and cannot hand out more', async (t) => {
  const app = await testApp(t)
  const scopes = ['organization.read', 'organization.admin_api_keys.write']
  const narrow = await newKey(app, { scopes })
  assert.deepEqual(narrow.scopes, scopes)
  assert.equal(await admits(app, narrow.value), true)
  const rename = await app.call(updateOrganization, { body: { name: 'x' }, key: narrow.value })
  assert.deepEqual(refusalOf(rename), [403, 'insufficient_permissions', null])
  const within = await newKey(app, { scopes: ['organization.read'] }, narrow.value)
  assert.equal(await admits(app, within.value), true)
  for (const wider of [{}, { scopes: ['organization.write'] }, { scopes: ['api.all.read'] }]) {
    const reply = await app.call(createAdminApiKey, { body: { name: 'more', ...wider }, key: narrow.value })
    assert.deepEqual(refusalOf(reply), [403, 'insufficient_permissions', null])
  }
  const [, , first] = (await app.call(listAdminApiKeys)).body.data
  const steal = await app.call(rotateAdminApiKey, { params: { key_id: first?.id ?? '' }, key: narrow.value })
  assert.deepEqual(refusalOf(steal), [403, 'insufficient_permissions', null])
  assert.equal(await admits(app, app.org.adminKey), true)
  const own = await app.call(rotateAdminApiKey, { params: { key_id: narrow.id }, key: narrow.value })
  assert.deepEqual([own.status, own.body.scopes], [200, scopes])
})

test('the same Idempotency-Key creates one key and shows the same value again', async (t) => {
  const app = await testApp(t)
  const create = (name: string) =>
    app.call(createAdminApiKey, { body: { name }, headers: { 'idempotency-key': 'make-one' } })
  const first = await create('one')
  assert.deepEqual((await create('one')).body, first.body)
  assert.equal((await app.call(listAdminApiKeys)).body.data.length, 2)
  assert.deepEqual(refusalOf(await create('two')), [409, 'idempotency_key_reused', 'Idempotency-Key'])
})

test('bad input is refused by name', async (t) => {
  const app = await testApp(t)
  const create = async (body: unknown) => refusalOf(await app.call(createAdminApiKey, { body }))
  assert.deepEqual(await create({}), [400, 'missing_required_parameter', 'name'])
  assert.deepEqual(await create({ name: 'a', scopes: ['files.read'] }), [400, 'invalid_value', 'scopes[0]'])
  const expires_in_seconds = 1.5
  assert.deepEqual((await create({ name: 'a', expires_in_seconds }))[2], 'expires_in_seconds')
  const list = async (query: Record<string, string>) => refusalOf(await app.call(listAdminApiKeys, { query }))
  assert.deepEqual(await list({ order: 'up' }), [400, 'invalid_value', 'order'])
  assert.deepEqual(await list({ after: 'key_none' }), [400, 'invalid_value', 'after'])
})

test('keys of another organisation and of other kinds do not exist here', async (t) => {
  const app = await testApp(t)
  const [foreign] = (await app.call(listAdminApiKeys, { key: app.otherOrg.adminKey })).body.data
  const robot = await newRobot(app)
  for (const key_id of [foreign?.id ?? '', robot.keyId, 'key_none']) {
    for (const operation of [retrieveAdminApiKey, deleteAdminApiKey, rotateAdminApiKey]) {
      const reply = await app.call(operation, { params: { key_id } })
      assert.deepEqual([reply.status, reply.error.message], [404, 'No such API key.'])
    }
  }
  assert.equal(await admits(app, app.otherOrg.adminKey), true)
})
