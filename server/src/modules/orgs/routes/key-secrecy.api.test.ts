import { listFiles } from '@switchyard/contracts/files.ts'
import { createAdminApiKey, rotateAdminApiKey } from '@switchyard/contracts/organization/admin-api-keys.ts'
import { createAdsApiKey, rotateAdsApiKey } from '@switchyard/contracts/organization/ads-api-keys.ts'
import { retrieveOrganization } from '@switchyard/contracts/organization/organization.ts'
import { rotateProjectApiKey } from '@switchyard/contracts/organization/project-api-keys.ts'
import { createServiceAccountKey } from '@switchyard/contracts/organization/service-accounts.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { newRobot } from '../testing/orgs-kit.ts'
import { everyRow } from '../testing/text-scan.ts'

/** One key from every operation that shows one. */
async function mintAll(app: TestApp): Promise<string[]> {
  const robot = await newRobot(app)
  const project_id = app.project.id
  const headers = { 'idempotency-key': 'kept' }
  const admin = await app.call(createAdminApiKey, { body: { name: 'a' }, headers })
  const ads = await app.call(createAdsApiKey, { body: { name: 'a' } })
  const more = [
    await app.call(createServiceAccountKey, { params: { project_id, service_account_id: robot.id } }),
    await app.call(rotateProjectApiKey, {
      params: { project_id, key_id: robot.keyId },
      body: { overlap_seconds: 60 },
      headers: { 'idempotency-key': 'kept-too' },
    }),
    await app.call(rotateAdminApiKey, { params: { key_id: admin.body.id }, body: { overlap_seconds: 60 } }),
    await app.call(rotateAdsApiKey, { params: { key_id: ads.body.id }, body: { overlap_seconds: 60 } }),
  ]
  const values = [robot.key, admin.body.value, ads.body.value, ...more.map(({ body }) => body.value)]
  return [...values, app.org.adminKey, app.org.adsKey, app.project.key]
}

test('no key value stands in any row of the database or any line of the log', async (t) => {
  const app = await testApp(t)
  const keys = await mintAll(app)
  assert.ok(keys.every((key) => typeof key === 'string' && key.length > 60))
  for (const key of keys) {
    await app.call(listFiles, { key })
    await app.call(retrieveOrganization, { key })
    // The same key mistyped, which is as good as the key to whoever reads it.
    await app.call(listFiles, { key: `${key}x` })
  }
  const stored = await everyRow(app.db)
  const logged = await app.log()
  assert.ok(stored.includes(app.org.id) && logged.includes('"request"'))
  for (const key of keys) {
    const secret = key.split('_').at(-2) ?? ''
    assert.equal(secret.length, 52)
    for (const text of [stored, logged]) assert.equal(text.includes(secret), false)
  }
})
