import type { LimitsBook } from './limits-book.ts'
import { earnedTier, earnedTiers, type EarnedTier, type Tier } from './tiers.ts'

/** What an operator can set. */
export const pinnableTiers = ['unlimited', ...earnedTiers] as const

/** What an organisation has earned, and what the operator has set instead. */
export interface Standing {
  readonly tier: EarnedTier | 'none'
  readonly pinnedTier: Exclude<Tier, 'none'> | null
}

export const effectiveTier = ({ tier, pinnedTier }: Standing): Tier => pinnedTier ?? tier

/** An organisation without a region is in none of those that are named. */
export const regionAllowed = ({ allowedRegions }: LimitsBook, region: string | null): boolean =>
  allowedRegions === null || (region !== null && allowedRegions.includes(region))

/** The tier of an organisation that has paid nothing. */
export const startingTier = (book: LimitsBook, region: string | null) =>
  earnedTier(book.tiers, 0, regionAllowed(book, region))

/** Whose numbers count in a tier; null: none at all. Where there is no tier yet, nothing is admitted anyway. */
export function termsTier(tier: Tier): EarnedTier | null {
  if (tier === 'unlimited') return null
  return tier === 'none' ? 'free' : tier
}

/** The next tier that a payment can reach. A tier that was set does not follow payments. */
export function nextTier({ tier, pinnedTier }: Standing): EarnedTier | null {
  if (pinnedTier !== null) return null
  return earnedTiers[tier === 'none' ? 1 : earnedTiers.indexOf(tier) + 1] ?? null
}
