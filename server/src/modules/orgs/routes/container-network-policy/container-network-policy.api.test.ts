import type { OrgId } from '@switchyard/contracts/ids.ts'
import {
  allowedDomainsMax,
  retrieveContainerNetworkPolicy,
  updateContainerNetworkPolicy,
} from '@switchyard/contracts/organization/container-network-policy.ts'
import { retrieveOrganization } from '@switchyard/contracts/organization/organization.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#platform/std/ids.ts'
import { testApp } from '../../../../../test/test-app.ts'
import { auditOf, orgIdOf, refusalOf } from '../../testing/orgs-kit.ts'

// S1-5.2-b
test('an organisation starts without network and allows what an administrator, and nobody else, names', async (t) => {
  const app = await testApp(t)
  const { created_at } = (await app.call(retrieveOrganization)).body
  assert.deepEqual((await app.call(retrieveContainerNetworkPolicy)).body, {
    object: 'organization.container_network_policy',
    type: 'disabled',
    allowed_domains: [],
    updated_at: created_at,
  })
  const allowed_domains = ['pypi.org', '*.pythonhosted.org']
  const set = await app.call(updateContainerNetworkPolicy, { body: { type: 'allowlist', allowed_domains } })
  assert.equal(set.status, 200, set.text)
  assert.deepEqual([set.body.type, set.body.allowed_domains], ['allowlist', allowed_domains])
  assert.deepEqual((await app.call(retrieveContainerNetworkPolicy)).body, set.body)
  const network = { type: 'allowlist', allowedDomains: allowed_domains }
  assert.deepEqual(await app.orgs.networkPolicy(orgIdOf(app)), network)
  const byProject = await app.call(updateContainerNetworkPolicy, { body: { type: 'disabled' }, key: app.project.key })
  assert.deepEqual(refusalOf(byProject), [401, 'invalid_api_key', null])
  const foreign = await app.call(retrieveContainerNetworkPolicy, { key: app.otherOrg.adminKey })
  assert.equal(foreign.body.type, 'disabled')
  assert.deepEqual(await app.orgs.networkPolicy(newId<OrgId>('org-')), { type: 'disabled', allowedDomains: [] })
})

test('what is left out stays, and the audit log tells what came and went', async (t) => {
  const app = await testApp(t)
  const update = async (body: unknown) => (await app.call(updateContainerNetworkPolicy, { body })).body
  await update({ type: 'allowlist', allowed_domains: ['a.example.com', 'b.example.com'] })
  assert.equal((await update({ allowed_domains: ['b.example.com', 'c.example.com'] })).type, 'allowlist')
  const off = await update({ type: 'disabled' })
  assert.deepEqual(off.allowed_domains, ['b.example.com', 'c.example.com'])
  assert.deepEqual(await update({ type: 'disabled' }), off)
  const entries = (await auditOf(app, app.org.id)).filter(({ type }) => type === 'container_network_policy.updated')
  assert.deepEqual(
    entries.map((entry) => (entry['container_network_policy.updated'] as { changes: unknown }).changes),
    [
      { type: 'disabled', domains_added: [], domains_removed: [] },
      { domains_added: ['c.example.com'], domains_removed: ['a.example.com'] },
      { type: 'allowlist', domains_added: ['a.example.com', 'b.example.com'], domains_removed: [] },
    ],
  )
})

test('anything but host names, a name given twice and a list without end are refused by place', async (t) => {
  const app = await testApp(t)
  const update = async (allowed_domains: string[]) =>
    refusalOf(await app.call(updateContainerNetworkPolicy, { body: { allowed_domains } }))
  for (const domain of ['https://a.example.com', 'a.example.com:443', '10.0.0.1', 'A.example.com', '*', 'localhost']) {
    assert.deepEqual(await update(['ok.example.com', domain]), [400, 'invalid_value', 'allowed_domains[1]'], domain)
  }
  assert.deepEqual(await update(['a.example.com', 'a.example.com']), [400, 'invalid_value', 'allowed_domains[1]'])
  const many = Array.from({ length: allowedDomainsMax + 1 }, (_, at) => `a${at}.example.com`)
  assert.deepEqual(await update(many), [400, 'array_above_max_length', 'allowed_domains'])
  const full = await app.call(updateContainerNetworkPolicy, { body: { allowed_domains: many.slice(1) } })
  assert.equal(full.status, 200)
  const type = await app.call(updateContainerNetworkPolicy, { body: { type: 'open' } })
  assert.deepEqual(refusalOf(type), [400, 'invalid_value', 'type'])
})
