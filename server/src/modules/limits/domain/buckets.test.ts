import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketsOf, type Policy } from './buckets.ts'
import { standardBook } from './limits-book.ts'
import { standardTiers, type GroupLimits } from './tiers.ts'

const costs = { requests: 1, tokens: 50, images: 0, audioMinutes: 0, spendNanos: 7 }
const policy: Policy = { tier: 'tier_1', monthlyNanos: 1_000, projectMonthlyNanos: null, project: {} }
const month = '2026-11'

function asked(more: Partial<Parameters<typeof bucketsOf>[0]> = {}): string[] {
  const what = { book: standardBook, policy, projectId: 'proj_a', group: 'house', long: false, month, costs, ...more }
  return bucketsOf(what).map(({ field, limit, cost }) => `${field} ${cost} of ${limit}`)
}

// S3-8.1-a S3-8.1-b S3-8.2
test('a request asks the limits of its organisation, and those that its project has lowered', () => {
  const organization = [
    'RPM:house 1 of 500',
    'RPD:house 1 of 10000',
    'TPM:house 50 of 200000',
    'spend:2026-11 7 of 1000',
    'proj_a:spend:2026-11 7 of 1000',
  ]
  assert.deepEqual(asked(), organization)
  const project = { house: { requestsPerMinute: 5, tokensPerDay: 900 }, other: { requestsPerMinute: 1 } }
  assert.deepEqual(asked({ policy: { ...policy, project, projectMonthlyNanos: 30 } }), [
    'RPM:house 1 of 500',
    'proj_a:RPM:house 1 of 5',
    'RPD:house 1 of 10000',
    'TPM:house 50 of 200000',
    'proj_a:TPD:house 50 of 900',
    'spend:2026-11 7 of 1000',
    'proj_a:spend:2026-11 7 of 30',
  ])
})

// S3-1.3-b S3-2.5-e S3-2.5-f
test('images and audio are asked of those who use them, of the organisation and of the project', () => {
  const project = { house: { imagesPerMinute: 1, audioMinutesPerMinute: 3 } }
  const drawn = asked({
    policy: { ...policy, project },
    costs: { ...costs, requests: 0, tokens: 0, images: 2, audioMinutes: 0.5 },
  })
  assert.deepEqual(drawn, [
    'IPM:house 2 of 5',
    'proj_a:IPM:house 2 of 1',
    'audio:house 0.5 of 10',
    'proj_a:audio:house 0.5 of 3',
    'spend:2026-11 7 of 1000',
    'proj_a:spend:2026-11 7 of 1000',
  ])
})

// S3-8.2
test('a long context has a fifth of the limits of a minute to itself, at both levels; days are shared', () => {
  const project = { house: { requestsPerMinute: 3, tokensPerMinute: 100 } }
  assert.deepEqual(asked({ long: true, policy: { ...policy, project } }), [
    'RPM:house#long 1 of 100',
    'proj_a:RPM:house#long 1 of 1',
    'RPD:house 1 of 10000',
    'TPM:house#long 50 of 40000',
    'proj_a:TPM:house#long 50 of 20',
    'spend:2026-11 7 of 1000',
    'proj_a:spend:2026-11 7 of 1000',
  ])
})

test('a group is named so that no field is taken for another', () => {
  const [first] = asked({ group: 'house 8b;|#long' })
  assert.equal(first, 'RPM:house%208b%3B%7C%23long 1 of 500')
})

// S3-8.10
test('a higher tier never has less of anything', () => {
  const tiers = Object.values(standardTiers)
  for (const [at, { limits, monthlyCents }] of tiers.entries()) {
    const below = tiers[at - 1]
    if (below === undefined) continue
    assert.ok(monthlyCents >= below.monthlyCents)
    for (const [name, limit] of Object.entries(limits) as [keyof GroupLimits, number | null][]) {
      assert.ok((limit ?? Infinity) >= (below.limits[name] ?? Infinity), name)
    }
  }
})
