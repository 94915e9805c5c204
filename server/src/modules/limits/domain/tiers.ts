/** What a limit group may use. Null: no limit of this kind. */
export interface GroupLimits {
  readonly requestsPerMinute: number | null
  readonly requestsPerDay: number | null
  readonly tokensPerMinute: number | null
  readonly tokensPerDay: number | null
  readonly imagesPerMinute: number | null
  readonly audioMinutesPerMinute: number | null
  /** Input tokens that batches may have queued. */
  readonly batchQueueTokens: number | null
}

export const earnedTiers = ['free', 'tier_1', 'tier_2', 'tier_3', 'tier_4', 'tier_5'] as const
export type EarnedTier = (typeof earnedTiers)[number]
/** `none`: outside the allowed regions and nothing paid. `unlimited`: set by the operator only. */
export type Tier = EarnedTier | 'none' | 'unlimited'

export interface TierTerms {
  /** Paid in all, in cents of a US dollar. */
  readonly paidCents: number
  readonly monthlyCents: number
  /** Of every limit group that has none of its own. */
  readonly limits: GroupLimits
}

type Row = readonly [paid: number, monthly: number, ...limits: (number | null)[]]

const terms = ([
  paid,
  monthly,
  rpm = null,
  rpd = null,
  tpm = null,
  tpd = null,
  batch = null,
  ipm = null,
  audio = null,
]: Row): TierTerms => ({
  paidCents: paid * 100,
  monthlyCents: monthly * 100,
  limits: {
    requestsPerMinute: rpm,
    requestsPerDay: rpd,
    tokensPerMinute: tpm,
    tokensPerDay: tpd,
    imagesPerMinute: ipm,
    audioMinutesPerMinute: audio,
    batchQueueTokens: batch,
  },
})

/** Paid and monthly as the seeds say; the rest is our choice, and any of it can be changed by the limits file. */
export const standardTiers: Readonly<Record<EarnedTier, TierTerms>> = {
  //              paid  month  RPM     RPD     TPM         TPD      batch queue     IPM  audio
  free: terms([0, 100, 3, 200, 40_000, 200_000, 200_000, 1, 1]),
  tier_1: terms([5, 100, 500, 10_000, 200_000, null, 2_000_000, 5, 10]),
  tier_2: terms([50, 500, 5_000, null, 450_000, null, 5_000_000, 20, 30]),
  tier_3: terms([100, 1_000, 5_000, null, 800_000, null, 50_000_000, 50, 60]),
  tier_4: terms([250, 5_000, 10_000, null, 2_000_000, null, 200_000_000, 150, 120]),
  tier_5: terms([1_000, 200_000, 15_000, null, 40_000_000, null, 15_000_000_000, 250, 300]),
}

/** The highest tier that what was paid reaches. */
export function earnedTier(
  tiers: Readonly<Record<EarnedTier, TierTerms>>,
  paidCents: number,
  regionAllowed: boolean,
): EarnedTier | 'none' {
  const reached = earnedTiers.findLast((tier) => tier !== 'free' && paidCents >= tiers[tier].paidCents)
  return reached ?? (regionAllowed ? 'free' : 'none')
}
