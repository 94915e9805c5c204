import { retrieveOrganization, updateOrganization } from '@switchyard/contracts/organization/organization.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '../../../../../test/test-app.ts'
import { auditOf, refusalOf } from '../../testing/orgs-kit.ts'

test('a key reads and renames its own organisation and no other', async (t) => {
  const app = await testApp(t)
  const before = (await app.call(retrieveOrganization)).body
  assert.deepEqual(before, {
    id: app.org.id,
    object: 'organization',
    name: 'First',
    region: null,
    created_at: before.created_at,
  })
  const renamed = await app.call(updateOrganization, { body: { name: 'Renamed' } })
  assert.deepEqual(renamed.body, { ...before, name: 'Renamed' })
  assert.deepEqual((await app.call(updateOrganization, { body: {} })).body, renamed.body)
  const about = await auditOf(app, app.org.id)
  const [updated, created, ...rest] = about.filter(({ type }) => type.startsWith('organization.'))
  assert.equal(rest.length, 0)
  assert.deepEqual(updated?.['organization.updated'], {
    id: app.org.id,
    changes_requested: { name: 'Renamed', title: 'Renamed' },
  })
  assert.deepEqual([created?.type, created?.actor], ['organization.created', null])
  const other = await app.call(retrieveOrganization, { key: app.otherOrg.adminKey })
  assert.deepEqual([other.body.id, other.body.name], [app.otherOrg.id, 'Second'])
})

test('a name that is empty, too long or no text is refused', async (t) => {
  const app = await testApp(t)
  const update = async (body: unknown) => refusalOf(await app.call(updateOrganization, { body }))
  assert.deepEqual(await update({ name: '' }), [400, 'string_below_min_length', 'name'])
  assert.deepEqual(await update({ name: 'x'.repeat(201) }), [400, 'string_above_max_length', 'name'])
  assert.deepEqual(await update({ name: 7 }), [400, 'invalid_type', 'name'])
  assert.deepEqual(await update({ region: 'moon' }), [400, 'unknown_parameter', 'region'])
})
