import type { EarnedTier, GroupLimits } from './tiers.ts'
import { limitsOf, type LimitsBook } from './limits-book.ts'

/** What a bucket counts. */
export type Metric = 'RPM' | 'RPD' | 'TPM' | 'TPD' | 'IPM' | 'audio' | 'files' | 'spend'
export type Level = 'organization' | 'project'

/** A bucket of an organisation that a request asks. */
export interface Bucket {
  /** Names it within the organisation's hash. */
  readonly field: string
  readonly level: Level
  readonly metric: Metric
  readonly limit: number
  /** How long a full bucket takes to empty itself; 0: never, the field names its month. */
  readonly periodMs: number
  readonly cost: number
}

/** How much a request asks of each metric. */
export interface Costs {
  readonly requests: number
  readonly tokens: number
  readonly images: number
  readonly audioMinutes: number
  /** Billionths of a US dollar, at most. */
  readonly spendNanos: number
}

/** What holds for the requests of one project. */
export interface Policy {
  readonly tier: EarnedTier
  readonly monthlyNanos: number
  readonly projectMonthlyNanos: number | null
  /** Lower limits of the project, by group. */
  readonly project: Readonly<Record<string, Partial<GroupLimits>>>
}

const minuteMs = 60_000
const dayMs = 86_400_000

/** Of the normal limits, what long-context requests have to themselves. */
const longContextShare = 5

const metrics = [
  { metric: 'RPM', limit: 'requestsPerMinute', cost: 'requests', periodMs: minuteMs, long: true },
  { metric: 'RPD', limit: 'requestsPerDay', cost: 'requests', periodMs: dayMs, long: false },
  { metric: 'TPM', limit: 'tokensPerMinute', cost: 'tokens', periodMs: minuteMs, long: true },
  { metric: 'TPD', limit: 'tokensPerDay', cost: 'tokens', periodMs: dayMs, long: false },
  { metric: 'IPM', limit: 'imagesPerMinute', cost: 'images', periodMs: minuteMs, long: false },
  { metric: 'audio', limit: 'audioMinutesPerMinute', cost: 'audioMinutes', periodMs: minuteMs, long: false },
] as const satisfies readonly {
  metric: Metric
  limit: keyof GroupLimits
  cost: keyof Costs
  periodMs: number
  long: boolean
}[]

export interface BucketsAsked {
  readonly book: LimitsBook
  readonly policy: Policy
  readonly projectId: string
  readonly group: string
  /** Draws on the long-context buckets of its group instead of the normal ones. */
  readonly long: boolean
  /** `2026-11`, by the clock that the month is counted by. */
  readonly month: string
  readonly costs: Costs
}

/**
 * Every bucket that a request draws on, the organisation's first. A project without a lower limit of its own has no
 * bucket of its own: the organisation's would always be the one to bind.
 */
export function bucketsOf({ book, policy, projectId, group, long, month, costs }: BucketsAsked): Bucket[] {
  // A name may hold anything; in a field it must not hold what separates fields.
  const named = encodeURIComponent(group)
  const organization = limitsOf(book, policy.tier, group)
  const project = policy.project[group]
  const buckets: Bucket[] = []
  for (const { metric, limit: name, cost: counted, periodMs, long: separate } of metrics) {
    const cost = costs[counted]
    // Requests of later turns cost none; what costs nothing is not asked.
    if (cost === 0) continue
    const apart = long && separate
    const place = apart ? `${named}#long` : named
    const add = (level: Level, prefix: string, whole: number | null | undefined) => {
      if (whole === null || whole === undefined) return
      const limit = apart ? Math.max(1, Math.floor(whole / longContextShare)) : whole
      buckets.push({ field: `${prefix}${metric}:${place}`, level, metric, limit, periodMs, cost })
    }
    add('organization', '', organization[name])
    add('project', `${projectId}:`, project?.[name])
  }
  const spend = { metric: 'spend', periodMs: 0, cost: costs.spendNanos } as const
  buckets.push({ ...spend, field: `spend:${month}`, level: 'organization', limit: policy.monthlyNanos })
  // Counted without a limit of its own as well: one that is set in the middle of a month finds what the month had.
  const limit = policy.projectMonthlyNanos ?? policy.monthlyNanos
  buckets.push({ ...spend, field: `${projectId}:spend:${month}`, level: 'project', limit })
  return buckets
}

/**
 * Who asks: a request that has arrived, work that waits in a line and asks when it may come, or work that was told, or
 * only looks.
 */
export type Asker = 'request' | 'work' | 'slot'

/** Taken by every request, admitted or not, and never given back. Work that waits is no request that arrived. */
export const isTakenAlways = (metric: Metric, asker: Asker = 'request'): boolean =>
  metric === 'RPM' && asker === 'request'
