import assert from 'node:assert/strict'
import { test } from 'node:test'
import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import { refusalOf } from '#modules/orgs/testing/orgs-kit.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { testApp } from '../../../../test/test-app.ts'
import { webhooksKit } from '#modules/webhooks/testing/webhooks-kit.ts'
import { retrieveUsageTier } from '@switchyard/contracts/organization/usage-tier.ts'
import { limitsFile, pay, tierNews, tierOf } from '../testing/limits-kit.ts'
import { insertUsageRows, usageRow } from '../testing/usage-rows.ts'

const usd = (value: number) => ({ value, currency: 'usd' })
const dayMs = 86_400_000

/** What is paid at a step, and what holds then: tier, paid in all, dollars a month. */
const steps: readonly [amount: number, tier: string, paid: number, monthly: number][] = [
  [4.99, 'free', 4.99, 100],
  [0.01, 'tier_1', 5, 100],
  [44.99, 'tier_1', 49.99, 100],
  [0.01, 'tier_2', 50, 500],
  [49.99, 'tier_2', 99.99, 500],
  [0.01, 'tier_3', 100, 1_000],
  [149.99, 'tier_3', 249.99, 1_000],
  [0.01, 'tier_4', 250, 5_000],
  [749.99, 'tier_4', 999.99, 5_000],
  [0.01, 'tier_5', 1_000, 200_000],
  [5_000, 'tier_5', 6_000, 200_000],
]

// S3-2.6-a S3-2.6-b S3-2.6-c S3-2.6-d S3-2.6-e S3-2.6-f S3-8.4-b
test('a tier is earned at its threshold and not a cent below, and every open project is told once', async (t) => {
  const app = await testApp(t)
  const { projectId: closed } = await app.orgs.createProject({ orgId: app.org.id, name: 'Closed' })
  await app.call(archiveProject, { params: { project_id: closed } })
  await app.wired.limits.pinTier(app.org.id, null)
  assert.deepEqual(await tierOf(app), {
    object: 'organization.usage_tier',
    tier: 'free',
    monthly_usage_limit: usd(100),
    month_to_date: usd(0),
    total_paid: usd(0),
    next_tier: { tier: 'tier_1', total_paid: usd(5) },
  })
  for (const [amount, tier, paid, monthly] of steps) {
    await pay(app, amount)
    const now = await tierOf(app)
    assert.deepEqual([now.tier, now.total_paid, now.monthly_usage_limit], [tier, usd(paid), usd(monthly)])
  }
  assert.equal((await tierOf(app)).next_tier, null)
  const upgrades = ['free → tier_1', 'tier_1 → tier_2', 'tier_2 → tier_3', 'tier_3 → tier_4', 'tier_4 → tier_5']
  for (const project of [app.project, app.other]) {
    assert.deepEqual((await tierNews(app, project.id)).slice(-5), upgrades)
  }
  assert.deepEqual(await tierNews(app, closed), [])
  assert.equal((await tierOf(app, app.otherOrg.adminKey)).tier, 'unlimited')
})

test('payments that come at the same time are all counted, and the tier is announced once', async (t) => {
  const app = await testApp(t)
  const { orgId, adminKey } = await app.orgs.createOrganization({ name: 'Busy' })
  const { projectId } = await app.orgs.createProject({ orgId, name: 'Project' })
  await Promise.all(Array.from({ length: 10 }, () => pay(app, 5, adminKey)))
  const { tier, total_paid } = await tierOf(app, adminKey)
  assert.deepEqual([tier, total_paid], ['tier_2', usd(50)])
  assert.deepEqual(await tierNews(app, projectId), ['free → tier_1', 'tier_1 → tier_2'])
})

test('an endpoint that subscribed gets the change of tier', async (t) => {
  const { app, sink, endpoint } = await webhooksKit(t)
  await app.wired.limits.pinTier(app.org.id, 'free')
  await endpoint('/tier', ['organization.usage_tier.updated'])
  await app.wired.limits.pinTier(app.org.id, 'tier_3')
  assert.ok(await becomesTrue(() => sink.received.length > 0, 30_000))
  const { type, data } = JSON.parse(sink.received[0]?.body ?? '') as { type: string; data: unknown }
  assert.equal(type, 'organization.usage_tier.updated')
  assert.deepEqual(data, { id: app.org.id, previous_tier: 'free', tier: 'tier_3' })
})

test('outside the allowed regions there is no tier until five dollars are paid', async (t) => {
  const app = await testApp(t, await limitsFile(t, { allowed_regions: ['eu-west'] }))
  const newOrg = (region?: string) => app.orgs.createOrganization({ name: 'Org', ...(region && { region }) })
  const [inside, outside, nowhere] = [await newOrg('eu-west'), await newOrg('mars'), await newOrg()]
  assert.equal((await tierOf(app, inside.adminKey)).tier, 'free')
  for (const { adminKey } of [outside, nowhere]) {
    const { tier, monthly_usage_limit, next_tier } = await tierOf(app, adminKey)
    assert.deepEqual([tier, monthly_usage_limit, next_tier?.tier], ['none', usd(0), 'tier_1'])
    await pay(app, 4.99, adminKey)
    assert.equal((await tierOf(app, adminKey)).tier, 'none')
    await pay(app, 0.01, adminKey)
    assert.equal((await tierOf(app, adminKey)).tier, 'tier_1')
  }
})

test('a tier that the operator has set stays, whatever is paid, until it is left to payments again', async (t) => {
  const app = await testApp(t)
  await pay(app, 60)
  const set = await tierOf(app)
  assert.deepEqual(
    [set.tier, set.monthly_usage_limit, set.next_tier, set.total_paid],
    ['unlimited', null, null, usd(60)],
  )
  const before = (await tierNews(app, app.project.id)).length
  await app.wired.limits.pinTier(app.org.id, 'tier_1')
  assert.deepEqual([(await tierOf(app)).tier, (await tierOf(app)).next_tier], ['tier_1', null])
  await app.wired.limits.pinTier(app.org.id, null)
  assert.equal((await tierOf(app)).tier, 'tier_2')
  assert.deepEqual((await tierNews(app, app.project.id)).slice(before), ['unlimited → tier_1', 'tier_1 → tier_2'])
})

test('the month to date is what this calendar month cost, to the billionth, of all projects and nobody else', async (t) => {
  const app = await testApp(t)
  const now = await app.db.now()
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
  const row = (atMs: number, orgId: string, projectId: string, costNanos: number) =>
    usageRow({ atMs, orgId, projectId }, { costNanos })
  await insertUsageRows(app.db, [
    row(month, app.org.id, app.project.id, 1_500_000_000),
    row(now.getTime(), app.org.id, app.other.id, 250_000_001),
    row(month - 1, app.org.id, app.project.id, 7_000_000_000),
    row(month - 20 * dayMs, app.org.id, app.project.id, 7_000_000_000),
    row(now.getTime(), app.otherOrg.id, app.otherOrg.project.id, 9_000_000_000),
  ])
  assert.deepEqual((await tierOf(app)).month_to_date, usd(1.750000001))
  const byProject = await app.call(retrieveUsageTier, { key: app.project.key })
  assert.deepEqual(refusalOf(byProject), [401, 'invalid_api_key', null])
})
