import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '../../../../test/test-app.ts'
import { limitsFile } from '../testing/limits-kit.ts'
import { ask, limitedOrg } from '../testing/rate-kit.ts'

test('the first requests of an organisation find its limits unused, also when many come at once', async (t) => {
  const tiers = { tier_1: { limits: { requests_per_minute: 20 } } }
  const app = await testApp(t, await limitsFile(t, { tiers }))
  for (let organization = 0; organization < 5; organization += 1) {
    const org = await limitedOrg(app, 'tier_1')
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask(app, org)))
    const refused = replies.filter(({ status }) => status !== 200).map(({ text }) => text)
    assert.deepEqual(refused, [])
  }
})
