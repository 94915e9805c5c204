import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { groupOf, limitsOf, standardBook, type LimitedModel } from './limits-book.ts'
import { readBook } from './limits-file.ts'

const price = { inputPerMtok: 0, cachedInputPerMtok: 0, outputPerMtok: 0 }
const model = (id: string, family: string, aliases: string[] = []): LimitedModel => ({
  id,
  aliases,
  family,
  contextWindow: 128_000,
  maxOutputTokens: 4_096,
  price,
})
const models = [
  model('house-8b-2026-11-14', 'house', ['house-8b']),
  model('house-70b-2026-11-14', 'house'),
  model('tiny', 'tiny'),
]
const [small, large, tiny] = models as [LimitedModel, LimitedModel, LimitedModel]

const read = (yaml: string) => readBook(parse(yaml), models)

// S3-8.1-b S3-8.3 S3-8.10
test('limits differ by model, and the models of a family share what the file gives the family', () => {
  const { book, problems } = read(`
allowed_regions: [eu-west, us-east]
tiers:
  tier_1: { paid: 7.5, monthly: 120, limits: { requests_per_minute: 600, tokens_per_day: 5000000 } }
families:
  house: { tier_1: { tokens_per_minute: 1000000, requests_per_day: null } }
models:
  house-70b-2026-11-14: { tier_1: { requests_per_minute: 50 }, free: { requests_per_minute: 1 } }
`)
  assert.deepEqual(problems, [])
  assert.ok(book !== null)
  assert.deepEqual(book.allowedRegions, ['eu-west', 'us-east'])
  const { paidCents, monthlyCents } = book.tiers.tier_1
  assert.deepEqual([paidCents, monthlyCents], [750, 12_000])
  assert.deepEqual([groupOf(book, small), groupOf(book, large)], ['house', 'house-70b-2026-11-14'])
  const general = { ...standardBook.tiers.tier_1.limits, requestsPerMinute: 600, tokensPerDay: 5_000_000 }
  assert.deepEqual(limitsOf(book, 'tier_1', 'house'), { ...general, tokensPerMinute: 1_000_000, requestsPerDay: null })
  assert.deepEqual(limitsOf(book, 'tier_1', large.id), { ...general, requestsPerMinute: 50 })
  assert.deepEqual(limitsOf(book, 'tier_1', groupOf(book, tiny)), general)
  assert.deepEqual(limitsOf(book, 'tier_2', 'house'), standardBook.tiers.tier_2.limits)
  assert.equal(limitsOf(book, 'free', large.id).requestsPerMinute, 1)
})

test('a file that gives nothing is the standard book', () => {
  assert.deepEqual(read('{}').book, standardBook)
})

const spoilt: [string, RegExp][] = [
  ['', /^the file: .*expected object/],
  ['tier: {}', /^the file: Unrecognized key: "tier"/],
  ['tiers: { tier_6: {} }', /^tiers(\.tier_6)?: /],
  ['tiers: { tier_1: { paid: 1.001 } }', /^tiers\.tier_1\.paid: /],
  ['tiers: { tier_1: { paid: -1 } }', /^tiers\.tier_1\.paid: /],
  ['tiers: { tier_1: { limits: { requests_per_minute: 0 } } }', /^tiers\.tier_1\.limits\.requests_per_minute: /],
  ['tiers: { tier_1: { limits: { rpm: 5 } } }', /^tiers\.tier_1\.limits: Unrecognized key: "rpm"/],
  ['tiers: { free: { paid: 1 } }', /^tiers\.free\.paid: must be 0/],
  ['tiers: { tier_3: { paid: 50 } }', /^tiers\.tier_3\.paid: must be more than that of tier_2/],
  ['families: { hose: {} }', /^families\.hose: no model of the catalogue is of this family/],
  ['models: { house-9b: {} }', /^models\.house-9b: no model of the catalogue has this id/],
  ['models: { house-8b: {} }', /^models\.house-8b: is an alias; name the snapshot house-8b-2026-11-14/],
  ['allowed_regions: eu', /^allowed_regions: /],
  ['families: { house: { tier_1: { tokens_per_minute: many } } }', /^families\.house\.tier_1\.tokens_per_minute: /],
]

test('a mistake is named by its place and gives no book', () => {
  for (const [yaml, says] of spoilt) {
    const { book, problems } = read(yaml)
    assert.equal(book, null, yaml)
    assert.match(problems[0] ?? '', says)
  }
})
