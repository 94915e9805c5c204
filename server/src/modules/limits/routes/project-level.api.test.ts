import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenAI } from 'openai'
import { testApp } from '../../../../test/test-app.ts'
import { limitsFile } from '../testing/limits-kit.ts'
import { ask, explain, limitedOrg, limitRefusal, rateOf, requestIdOf, usedBefore } from '../testing/rate-kit.ts'

test('limits hold for the organisation and for the project, not for a user or a key', async (t) => {
  const tiers = { tier_1: { limits: { requests_per_minute: 3, tokens_per_minute: 1_000 } } }
  const app = await testApp(t, await limitsFile(t, { tiers }))
  const lower = async (org: Awaited<ReturnType<typeof limitedOrg>>, limits: Record<string, number>) => {
    const admin = new OpenAI({ baseURL: `${app.baseUrl}/v1`, adminAPIKey: org.adminKey, maxRetries: 0 })
    const { rateLimits } = admin.admin.organization.projects
    return await rateLimits.updateRateLimit('rl-double', { project_id: org.project.id, ...limits })
  }

  // S3-1.3-a S3-8.1-a
  await t.test('two projects share the bucket of their organisation', async () => {
    const org = await limitedOrg(app, 'tier_1')
    const left: unknown[] = []
    for (const { key } of [org.project, org.other, org.project]) {
      left.push(rateOf(await ask(app, org, {}, { key })).requests?.remaining)
    }
    assert.deepEqual(left, [2, 1, 0])
    for (const { key } of [org.project, org.other]) {
      const refused = await ask(app, org, {}, { key })
      assert.match(refused.error.message, new RegExp(`in organization ${org.id} on requests per min`))
    }
    const elsewhere = await limitedOrg(app, 'tier_1')
    assert.equal(rateOf(await ask(app, elsewhere)).requests?.remaining, 2)
  })

  // S3-8.1-a
  await t.test('a lower limit of a project is shared by all its keys, and holds nobody else up', async () => {
    const org = await limitedOrg(app, 'tier_1')
    assert.equal((await lower(org, { max_requests_per_1_minute: 1 })).max_requests_per_1_minute, 1)
    const robot = await app.orgs.mintProjectKey({ orgId: org.id, projectId: org.project.id, name: 'another' })
    const first = await ask(app, org)
    assert.deepEqual(
      [rateOf(first).requests?.limit, rateOf(first).requests?.remaining],
      [1, 0],
      'the one with the least',
    )
    const refused = await ask(app, org, {}, { key: robot.key })
    assert.deepEqual(limitRefusal(refused), [429, 'requests', 'rate_limit_exceeded', 'true'])
    const where = new RegExp(`in project ${org.project.id} on requests per min \\(RPM\\): Limit 1, Used 1, Requested 1`)
    assert.match(refused.error.message, where)
    const why = await explain(app, org, requestIdOf(refused))
    assert.equal(why.decisions[0]?.binding, `${org.project.id}:RPM:double`)
    assert.match(why.summary, /^Refused: RPM of the project stood at 1 of 1/)
    // It was counted at the organisation all the same.
    const other = await ask(app, org, {}, { key: org.other.key })
    assert.deepEqual([other.status, rateOf(other).requests?.limit, rateOf(other).requests?.remaining], [200, 3, 0])
    const used = usedBefore(await explain(app, org, requestIdOf(other)))
    assert.ok((used['RPM'] ?? 0) > 1.5 && (used['RPM'] ?? 0) <= 2)
  })

  await t.test('tokens likewise: what the project may not, the organisation keeps', async () => {
    const org = await limitedOrg(app, 'tier_1')
    await lower(org, { max_tokens_per_1_minute: 300 })
    const body = { max_output_tokens: 200 }
    const first = await ask(app, org, body)
    assert.deepEqual([rateOf(first).tokens?.limit, rateOf(first).tokens?.remaining], [300, 100])
    const refused = await ask(app, org, body)
    assert.deepEqual(limitRefusal(refused), [429, 'tokens', 'rate_limit_exceeded', 'true'])
    assert.match(refused.error.message, new RegExp(`in project ${org.project.id} on tokens per min`))
    const other = await ask(app, org, { max_output_tokens: 700 }, { key: org.other.key })
    assert.equal(other.status, 200, 'the refused one took no tokens of the organisation')
  })
})
