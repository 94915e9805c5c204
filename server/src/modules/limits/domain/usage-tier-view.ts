import type { UsageTier } from '@switchyard/contracts/organization/usage-tier.ts'
import type { LimitsBook } from './limits-book.ts'
import { centsView, nanosView } from './money-view.ts'
import { effectiveTier, nextTier, type Standing } from './tier-standing.ts'

export interface TierFacts {
  readonly standing: Standing
  readonly paidCents: number
  /** This month. */
  readonly spentNanos: number
}

export function usageTierView(book: LimitsBook, { standing, paidCents, spentNanos }: TierFacts): UsageTier {
  const next = nextTier(standing)
  return {
    object: 'organization.usage_tier',
    tier: effectiveTier(standing),
    monthly_usage_limit: monthlyLimit(book, standing),
    month_to_date: nanosView(spentNanos),
    total_paid: centsView(paidCents),
    next_tier: next === null ? null : { tier: next, total_paid: centsView(book.tiers[next].paidCents) },
  }
}

function monthlyLimit(book: LimitsBook, standing: Standing): UsageTier['monthly_usage_limit'] {
  const tier = effectiveTier(standing)
  if (tier === 'unlimited') return null
  return centsView(tier === 'none' ? 0 : book.tiers[tier].monthlyCents)
}
