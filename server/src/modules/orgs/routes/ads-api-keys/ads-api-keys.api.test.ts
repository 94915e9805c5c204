import type { AdsApiKey } from '@switchyard/contracts/organization/ads-api-keys.ts'
import {
  createAdsApiKey,
  deleteAdsApiKey,
  listAdsApiKeys,
  retrieveAdsApiKey,
  rotateAdsApiKey,
} from '@switchyard/contracts/organization/ads-api-keys.ts'
import { retrieveOrganization } from '@switchyard/contracts/organization/organization.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp, type TestApp } from '../../../../../test/test-app.ts'
import { auditTypesOf, expireKeyIn, refusalOf } from '../../testing/orgs-kit.ts'

async function newKey(app: TestApp, body: Record<string, unknown> = {}): Promise<AdsApiKey & { value: string }> {
  const made = await app.call(createAdsApiKey, { body: { name: 'campaigns', ...body } })
  assert.equal(made.status, 200, made.text)
  return made.body
}

/** Until there is an ads API to call, the door itself is asked. */
const holder = async (app: TestApp, key: string) => app.orgs.authenticate(key)

test('an ads key is bound to one ad account, a new one or one that is there', async (t) => {
  const app = await testApp(t)
  const { value, ...key } = await newKey(app, { scopes: ['ads.read', 'insights.read'] })
  assert.match(value, /^adsk_/)
  assert.match(key.ad_account_id, /^adacct_/)
  assert.deepEqual(key, {
    id: key.id,
    object: 'organization.ads_api_key',
    name: 'campaigns',
    redacted_value: `adsk_...${value.slice(-4)}`,
    ad_account_id: key.ad_account_id,
    scopes: ['ads.read', 'insights.read'],
    created_at: key.created_at,
    last_used_at: null,
    expires_at: null,
  })
  const same = await newKey(app, { ad_account_id: key.ad_account_id })
  assert.deepEqual([same.ad_account_id, same.scopes], [key.ad_account_id, []])
  assert.deepEqual(await holder(app, value), {
    scope: { kind: 'ads_key', keyId: key.id, orgId: app.org.id, adAccountId: key.ad_account_id },
    granted: new Set(['ads.read', 'insights.read']),
  })
  assert.equal((await holder(app, same.value))?.granted, null)
  assert.deepEqual((await app.call(retrieveAdsApiKey, { params: { key_id: key.id } })).body, key)
  const list = await app.call(listAdsApiKeys)
  assert.deepEqual(
    list.body.data.map(({ id }) => id),
    [same.id, key.id, list.body.data[2]?.id],
  )
  assert.deepEqual((await app.call(retrieveOrganization, { key: value })).status, 401)
})

test('an ads key is rotated with an overlap and deleted at once', async (t) => {
  const app = await testApp(t)
  const key = await newKey(app)
  const params = { key_id: key.id }
  const rotated = await app.call(rotateAdsApiKey, { params, body: { overlap_seconds: 60 } })
  assert.equal(rotated.status, 200, rotated.text)
  assert.deepEqual([rotated.body.ad_account_id, rotated.body.replaces.id], [key.ad_account_id, key.id])
  assert.ok((await holder(app, key.value)) !== null)
  assert.deepEqual(refusalOf(await app.call(rotateAdsApiKey, { params })), [409, 'invalid_state_transition', null])
  await expireKeyIn(app, key.id, 0)
  assert.equal(await holder(app, key.value), null)
  assert.ok((await holder(app, rotated.body.value)) !== null)
  const gone = await app.call(deleteAdsApiKey, { params: { key_id: rotated.body.id } })
  assert.deepEqual(gone.body, { id: rotated.body.id, object: 'organization.ads_api_key.deleted', deleted: true })
  assert.equal(await holder(app, rotated.body.value), null)
  assert.deepEqual(await auditTypesOf(app, key.id), ['api_key.rotated', 'api_key.created'])
})

test('bad input is refused by name, and what belongs to others does not exist', async (t) => {
  const app = await testApp(t)
  const create = async (body: unknown) => refusalOf(await app.call(createAdsApiKey, { body }))
  assert.deepEqual(await create({}), [400, 'missing_required_parameter', 'name'])
  assert.deepEqual(await create({ name: 'a', scopes: ['files.read'] }), [400, 'invalid_value', 'scopes[0]'])
  assert.deepEqual(refusalOf(await app.call(listAdsApiKeys, { query: { after: 'key_none' } })), [
    400,
    'invalid_value',
    'after',
  ])
  const [foreign] = (await app.call(listAdsApiKeys, { key: app.otherOrg.adminKey })).body.data
  assert.ok(foreign !== undefined)
  for (const ad_account_id of [foreign.ad_account_id, 'adacct_none']) {
    assert.deepEqual(await create({ name: 'a', ad_account_id }), [404, 'not_found', 'ad_account_id'])
  }
  for (const key_id of [foreign.id, 'key_none']) {
    for (const operation of [retrieveAdsApiKey, deleteAdsApiKey, rotateAdsApiKey]) {
      const reply = await app.call(operation, { params: { key_id } })
      assert.deepEqual([reply.status, reply.error.message], [404, 'No such API key.'])
    }
  }
})
