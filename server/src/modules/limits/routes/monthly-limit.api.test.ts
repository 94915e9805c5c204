import { updateProjectSpendLimit, updateSpendLimit } from '@switchyard/contracts/organization/spend-limits.ts'
import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenAI, RateLimitError } from 'openai'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { limitsFile, pay } from '../testing/limits-kit.ts'
import {
  ask,
  explain,
  explainSettled,
  limitedOrg,
  limitRefusal,
  rateOf,
  requestIdOf,
  usedBefore,
} from '../testing/rate-kit.ts'
import type { LimitedOrg } from '../testing/rate-kit.ts'
import { insertUsageRows } from '../testing/usage-rows.ts'

const usd = 1_000_000_000

/** What every tier may spend in a month, in US dollars. */
const monthly = { free: 100, tier_1: 100, tier_2: 500, tier_3: 1_000, tier_4: 5_000, tier_5: 200_000 } as const

/** One token in, sixteen out at most: 1 and 64 millionths of a dollar. */
const small = { input: 'x', max_output_tokens: 16 }
const smallNanos = 65_000

async function spend(app: TestApp, org: LimitedOrg, costNanos: number, projectId: string = org.project.id) {
  const atMs = (await app.db.now()).getTime()
  const row = { keyId: null, model: 'm', batch: false, input: 1, cached: 0, output: 1 }
  await insertUsageRows(app.db, [{ ...row, atMs, orgId: org.id, projectId, costNanos }])
}

const outOfMoney = [429, 'insufficient_quota', 'insufficient_quota', 'false']

// S3-1.3-c S3-2.6-a S3-2.6-b S3-2.6-c S3-2.6-d S3-2.6-e S3-2.6-f S3-8.4-a
test('at the monthly limit of a tier nothing more is let in, to the billionth of a dollar', async (t) => {
  const app = await testApp(t)
  for (const [tier, dollars] of Object.entries(monthly)) {
    await t.test(`${tier}: ${dollars} USD`, async () => {
      const just = await limitedOrg(app, tier as keyof typeof monthly)
      await spend(app, just, dollars * usd - smallNanos)
      const last = await ask(app, just, small)
      assert.equal(last.status, 200, last.text)
      const over = await limitedOrg(app, tier as keyof typeof monthly)
      await spend(app, over, dollars * usd - smallNanos + 1)
      const refused = await ask(app, over, small)
      assert.deepEqual(limitRefusal(refused), outOfMoney)
      assert.match(refused.error.message, new RegExp(`^The monthly usage limit of ${dollars}.00 USD is reached in `))
      assert.equal(refused.headers.get('retry-after'), null)
      assert.notEqual(rateOf(refused).requests, null)
      assert.equal((await explain(app, over, requestIdOf(refused))).decisions[0]?.binding?.slice(0, 6), 'spend:')
    })
  }
})

// S3-8.4-a S3-7.2-b
test('the SDK is told of a month that is used up once, and does not try again', async (t) => {
  const app = await testApp(t)
  const org = await limitedOrg(app, 'tier_1')
  await spend(app, org, 100 * usd)
  const client = new OpenAI({ baseURL: `${app.baseUrl}/v1`, apiKey: org.project.key, maxRetries: 5 })
  await assert.rejects(
    async () => await client.responses.create({ model: 'double-chat', input: 'Hello.' }),
    (error) => {
      assert.ok(error instanceof RateLimitError)
      assert.deepEqual([error.status, error.code, error.type], [429, 'insufficient_quota', 'insufficient_quota'])
      return true
    },
  )
  await ask(app, org, small)
  await explain(app, org, requestIdOf(await ask(app, org, small)))
  const { rows } = await sql<{ asked: number }>`
    select count(*)::int as asked from limits.decision where org_id = ${org.id}`.execute(app.db.kysely)
  assert.equal(rows[0]?.asked, 3, 'one of the SDK, and two of this test')
  assert.equal(app.double.requests.length, 0)
})

test('a lower spend limit binds before that of the tier', async (t) => {
  const app = await testApp(t)
  const limit = (threshold_amount: number) => ({ threshold_amount, currency: 'USD', interval: 'month' })
  const org = await limitedOrg(app, 'tier_1')
  const params = { project_id: org.project.id }
  await app.call(updateProjectSpendLimit, { params, body: limit(100), key: org.adminKey })
  await app.call(updateSpendLimit, { body: limit(300), key: org.adminKey })
  await spend(app, org, usd)
  const project = await ask(app, org, small)
  assert.deepEqual(limitRefusal(project), outOfMoney)
  assert.match(
    project.error.message,
    /^The monthly spend limit of the project of 1\.00 USD is reached in project proj_/,
  )
  const key = org.other.key
  assert.equal((await ask(app, org, small, { key })).status, 200, 'the other project goes on')

  await app.call(updateSpendLimit, { body: limit(100), key: org.adminKey })
  const organization = await ask(app, org, small, { key })
  assert.deepEqual(limitRefusal(organization), outOfMoney)
  assert.match(organization.error.message, /^The monthly usage limit of 1\.00 USD is reached in organization org-/)
  await app.call(updateSpendLimit, { body: limit(300), key: org.adminKey })
  assert.equal((await ask(app, org, small, { key })).status, 200, 'a raised limit holds at once')
})

test('what a request may cost at most is held until it ends, and then what it cost', async (t) => {
  const app = await testApp(t)
  const org = await limitedOrg(app, 'tier_1')
  app.double.queue({ text: 'Yes.', usage: { input: 1_000, output: 100 } })
  const reply = await ask(app, org, { max_output_tokens: 5_000 })
  const why = await explainSettled(app, org, requestIdOf(reply))
  const spentNanos = 1_000 * 1_000 + 100 * 4_000
  assert.deepEqual(
    why.settlements.map(({ kind, cost_nanos, tokens }) => [kind, cost_nanos, tokens]),
    [['settled', spentNanos, 1_100]],
  )
  const held = why.settlements[0]?.reserved.find(({ bucket }) => bucket.startsWith('spend:'))
  assert.equal(held?.amount, 2 * 1_000 + 5_000 * 4_000, 'two tokens in, five thousand out at most')
  const next = await ask(app, org, small)
  assert.equal(usedBefore(await explain(app, org, requestIdOf(next)))['spend'], spentNanos)
  // Without the buckets the ledger says the same.
  assert.equal(why.usage[0]?.cost_nanos, spentNanos)
})

// S3-2.6-a
test('an organisation outside the allowed regions is refused until five dollars are paid', async (t) => {
  const app = await testApp(t, await limitsFile(t, { allowed_regions: ['eu-west'] }))
  const { orgId, adminKey } = await app.orgs.createOrganization({ name: 'Far away', region: 'mars' })
  const { projectId } = await app.orgs.createProject({ orgId, name: 'One' })
  const { key } = await app.orgs.mintProjectKey({ orgId, projectId, name: 'test' })
  const project = { id: projectId, key }
  const org = { id: orgId, adminKey, project, other: project }
  for (const amount of [0, 4.99]) {
    if (amount > 0) await pay(app, amount, adminKey)
    const refused = await ask(app, org)
    assert.deepEqual([refused.status, refused.error.code], [403, 'region_not_allowed'])
  }
  await pay(app, 0.01, adminKey)
  const reply = await ask(app, org)
  assert.deepEqual([reply.status, rateOf(reply).requests?.limit], [200, 500])
})
