import type { Bucket } from './buckets.ts'
import { isTakenAlways } from './buckets.ts'

/** What the buckets answered. */
export interface Verdict {
  readonly admitted: boolean
  readonly buckets: readonly Bucket[]
  /** How full each bucket was before, in the order asked. */
  readonly before: readonly number[]
  /** The bucket that refused; null when admitted. */
  readonly binding: Bucket | null
  /** When it was decided, by the clock that the buckets are kept by; null: without Valkey. */
  readonly clockMicros: number | null
  /** When to come back; null when waiting does not help. */
  readonly retryAfterMs: number | null
}

/** How full a bucket is after the verdict. A refused request takes from the per-minute request buckets alone. */
export function levelAfter({ admitted, before }: Verdict, bucket: Bucket, at: number): number {
  const level = before[at] ?? 0
  if (admitted) return level + bucket.cost
  return isTakenAlways(bucket.metric) ? Math.max(level, Math.min(bucket.limit, level + bucket.cost)) : level
}
