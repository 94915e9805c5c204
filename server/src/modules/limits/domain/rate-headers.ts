import type { Metric } from './buckets.ts'
import { durationText } from './duration.ts'
import { levelAfter, type Verdict } from './verdict.ts'

const shown = { requests: ['RPM', 'RPD'], tokens: ['TPM', 'TPD'] } as const satisfies Record<string, readonly Metric[]>

/**
 * The six headers. Several buckets count the same thing, of a minute and a day, of organisation and project: the one
 * with the least left is shown, because it decides what becomes of the next request. Without a limit on tokens their
 * three headers are left out.
 */
export function rateHeaders(verdict: Verdict): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [what, metrics] of Object.entries(shown)) {
    let least: { limit: number; remaining: number; resetMs: number } | null = null
    for (const [at, bucket] of verdict.buckets.entries()) {
      if (!(metrics as readonly Metric[]).includes(bucket.metric)) continue
      const level = levelAfter(verdict, bucket, at)
      const remaining = Math.max(0, Math.floor(bucket.limit - level + 1e-6))
      if (least !== null && least.remaining <= remaining) continue
      least = { limit: bucket.limit, remaining, resetMs: (level * bucket.periodMs) / bucket.limit }
    }
    if (least === null) continue
    headers[`x-ratelimit-limit-${what}`] = String(least.limit)
    headers[`x-ratelimit-remaining-${what}`] = String(least.remaining)
    headers[`x-ratelimit-reset-${what}`] = durationText(least.resetMs)
  }
  return headers
}
