import assert from 'node:assert/strict'
import { test } from 'node:test'
import { snapshotOf } from '../../../../test/double-models.ts'
import { testApp } from '../../../../test/test-app.ts'
import { limitsFile } from '../testing/limits-kit.ts'
import { ask, askUntilRefused, limitedOrg, limitRefusal, onlyLimits, rateOf } from '../testing/rate-kit.ts'

const bounds = (admitted: number, message: string) => new RegExp(`^${admitted} admitted, then .* on ${message}`)

test('each limit binds when it is the first to be reached', async (t) => {
  const tiers = {
    free: onlyLimits({ requests_per_minute: 2 }),
    tier_1: onlyLimits({ requests_per_day: 3 }),
    tier_2: onlyLimits({ tokens_per_minute: 1_000 }),
    tier_3: onlyLimits({ tokens_per_day: 1_000 }),
    tier_4: onlyLimits({
      requests_per_minute: 3,
      tokens_per_minute: 1_000,
      requests_per_day: 10,
      tokens_per_day: 5_000,
    }),
  }
  const app = await testApp(t, await limitsFile(t, { tiers }))
  const until = async (name: keyof typeof tiers, body: Record<string, unknown>) => {
    const org = await limitedOrg(app, name)
    const { admitted, refused } = await askUntilRefused(app, org, body)
    return { org, refused, said: `${admitted.length} admitted, then ${refused.error.message}` }
  }

  // S3-2.5-a S3-2.5-b S3-7.3
  await t.test('requests of a minute, and of a day', async () => {
    const minute = await until('free', {})
    assert.match(minute.said, bounds(2, String.raw`requests per min \(RPM\): Limit 2, Used 2, Requested 1\.`))
    assert.deepEqual(limitRefusal(minute.refused), [429, 'requests', 'rate_limit_exceeded', 'true'])
    const day = await until('tier_1', {})
    assert.match(day.said, bounds(3, String.raw`requests per day \(RPD\): Limit 3, Used 3, Requested 1\.`))
    assert.deepEqual(limitRefusal(day.refused), [429, 'requests', 'rate_limit_exceeded', 'true'])
    assert.deepEqual([rateOf(day.refused).requests?.limit, rateOf(day.refused).requests?.remaining], [3, 0])
    assert.ok((rateOf(day.refused).requests?.resetMs ?? 0) > 86_300_000, 'a day that is used up')
  })

  // S3-2.5-c S3-2.5-d
  await t.test('tokens of a minute, and of a day', async () => {
    const minute = await until('tier_2', { max_output_tokens: 400 })
    assert.match(minute.said, bounds(2, String.raw`tokens per min \(TPM\): Limit 1000, Used \d{3}, Requested 400`))
    assert.deepEqual(limitRefusal(minute.refused), [429, 'tokens', 'rate_limit_exceeded', 'true'])
    const day = await until('tier_3', { max_output_tokens: 400 })
    assert.match(day.said, bounds(2, String.raw`tokens per day \(TPD\): Limit 1000, Used 800, Requested 400\.`))
    assert.deepEqual(limitRefusal(day.refused), [429, 'tokens', 'rate_limit_exceeded', 'true'])
  })

  // S3-2.5-g
  await t.test('whichever is reached first, with everything else still free', async () => {
    assert.match((await until('tier_4', { max_output_tokens: 16 })).said, bounds(3, String.raw`requests per min`))
    const tokens = await until('tier_4', { max_output_tokens: 600 })
    assert.match(tokens.said, bounds(1, String.raw`tokens per min`))
    // The refused one took a request as well, and no tokens.
    const next = await ask(app, tokens.org, { max_output_tokens: 16 })
    assert.deepEqual([next.status, rateOf(next).requests?.remaining], [200, 0])
    assert.ok((rateOf(next).tokens?.remaining ?? 0) >= 384)
  })

  await t.test('a request above the whole limit is told that waiting does not help', async () => {
    const org = await limitedOrg(app, 'tier_2')
    const refused = await ask(app, org, { max_output_tokens: 1_001 })
    assert.deepEqual(limitRefusal(refused), [429, 'tokens', 'rate_limit_exceeded', 'false'])
    assert.match(
      refused.error.message,
      /^Request too large for double-chat .*Limit 1000, Used 0, Requested 1001\..* shorten it/,
    )
    assert.equal(refused.headers.get('retry-after'), null)
    assert.deepEqual([rateOf(refused).tokens?.remaining, rateOf(refused).requests?.remaining], [1_000, 999])
    assert.equal((await ask(app, org, { max_output_tokens: 1_000 })).status, 200)
  })
})

test('limits differ by model, and a family shares one quota', async (t) => {
  const alone = snapshotOf('double-responses')
  const app = await testApp(
    t,
    await limitsFile(t, {
      tiers: { tier_1: onlyLimits({ requests_per_minute: 3 }) },
      models: { [alone]: { tier_1: { requests_per_minute: 1 } } },
    }),
  )

  // S3-8.1-b S3-8.3
  await t.test('by any of its names; a model with limits of its own neither shares nor is held up', async () => {
    const org = await limitedOrg(app, 'tier_1')
    for (const [model, left] of [
      ['double-chat', 2],
      ['double-anthropic', 1],
      [snapshotOf('double-chat'), 0],
    ] as const) {
      assert.deepEqual(rateOf(await ask(app, org, { model })).requests?.remaining, left)
    }
    for (const model of ['double-anthropic', 'double-chat']) {
      const { error } = await ask(app, org, { model })
      assert.match(error.message, new RegExp(`^Rate limit reached for ${model} in .*Limit 3`))
    }
    const own = await ask(app, org, { model: 'double-responses' })
    assert.deepEqual([own.status, rateOf(own).requests?.limit, rateOf(own).requests?.remaining], [200, 1, 0])
    assert.match((await ask(app, org, { model: alone })).error.message, /Limit 1, Used 1/)
  })
})

// S3-8.2
test('a request with much input draws on the long-context limits alone, a fifth of the normal ones', async (t) => {
  const tiers = { tier_1: onlyLimits({ requests_per_minute: 10, tokens_per_minute: 1_000_000 }) }
  const app = await testApp(t, await limitsFile(t, { tiers }))
  const org = await limitedOrg(app, 'tier_1')
  const user = (chars: number) => ({ role: 'user', content: 'long '.repeat(chars / 5) })
  const long = { input: [user(400_000), user(120_000)], truncation: 'auto' }

  const first = await ask(app, org, long)
  assert.equal(first.status, 200, first.text)
  const { requests, tokens } = rateOf(first)
  assert.deepEqual([requests?.limit, requests?.remaining, tokens?.limit], [2, 1, 200_000])
  assert.ok((tokens?.remaining ?? 0) < 70_001 && (tokens?.remaining ?? 0) > 69_900, String(tokens?.remaining))

  const normal = await ask(app, org)
  assert.deepEqual(
    [rateOf(normal).requests?.limit, rateOf(normal).requests?.remaining, rateOf(normal).tokens?.limit],
    [10, 9, 1_000_000],
  )
  const refused = await ask(app, org, long)
  assert.match(refused.error.message, /tokens per min \(TPM\): Limit 200000, .* Requested 1300\d\d\./)
  assert.deepEqual([rateOf(refused).requests?.limit, rateOf(refused).requests?.remaining], [2, 0])
  assert.equal((await ask(app, org)).status, 200, 'what is not long goes on')
  const exactly = { input: [user(400_000), user(111_980)], truncation: 'auto' }
  assert.equal(rateOf(await ask(app, org, exactly)).requests?.limit, 10, '128,000 tokens are not long yet')
})
