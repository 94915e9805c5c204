import assert from 'node:assert/strict'
import { test } from 'node:test'
import { standardBook } from './limits-book.ts'
import { effectiveTier, nextTier, regionAllowed, startingTier, termsTier } from './tier-standing.ts'
import { earnedTier, standardTiers } from './tiers.ts'

// S3-2.6-a S3-2.6-b S3-2.6-c S3-2.6-d S3-2.6-e S3-2.6-f
test('each tier begins at the cent that the seeds name', () => {
  const thresholds = [
    ['tier_1', 500],
    ['tier_2', 5_000],
    ['tier_3', 10_000],
    ['tier_4', 25_000],
    ['tier_5', 100_000],
  ] as const
  let below = 'free'
  for (const [tier, cents] of thresholds) {
    assert.equal(earnedTier(standardTiers, cents - 1, true), below)
    assert.equal(earnedTier(standardTiers, cents, true), tier)
    assert.equal(earnedTier(standardTiers, cents, false), tier)
    below = tier
  }
  assert.equal(earnedTier(standardTiers, 499, false), 'none')
})

test('without a list every region is allowed; with one, a region that is not on it and no region are not', () => {
  const some = { ...standardBook, allowedRegions: ['eu-west'] }
  assert.deepEqual([regionAllowed(standardBook, null), regionAllowed(standardBook, 'mars')], [true, true])
  assert.deepEqual(
    [regionAllowed(some, 'eu-west'), regionAllowed(some, 'mars'), regionAllowed(some, null)],
    [true, false, false],
  )
  assert.deepEqual([startingTier(some, 'eu-west'), startingTier(some, 'mars')], ['free', 'none'])
})

test('a tier that was set holds instead of the earned one, and payments lead to no other', () => {
  const earned = (tier: 'none' | 'free' | 'tier_4' | 'tier_5') => ({ tier, pinnedTier: null })
  const pinned = { tier: 'tier_1', pinnedTier: 'unlimited' } as const
  assert.deepEqual([effectiveTier(earned('free')), effectiveTier(pinned)], ['free', 'unlimited'])
  assert.deepEqual([earned('none'), earned('free'), earned('tier_4'), earned('tier_5'), pinned].map(nextTier), [
    'tier_1',
    'tier_1',
    'tier_5',
    null,
    null,
  ])
  assert.deepEqual([termsTier('unlimited'), termsTier('none'), termsTier('tier_2')], [null, 'free', 'tier_2'])
})
