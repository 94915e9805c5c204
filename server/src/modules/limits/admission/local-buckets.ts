import { isTakenAlways, type Bucket } from '../domain/buckets.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { Used } from './valkey-buckets.ts'

interface Level {
  readonly bucket: Bucket
  readonly level: number
  readonly at: number
}

/** Organisations that are remembered at once; beyond it the oldest is forgotten. */
const organizationsMax = 10_000
const minuteMs = 60_000

/**
 * The buckets of this process alone, for the time that Valkey is away. Each has a share of the limit, so that the nodes
 * together stay below the whole, and those of a minute start with nothing left: what was used before is not known here.
 */
export class LocalBuckets {
  readonly #share: number
  readonly #organizations = new Map<string, Map<string, Level>>()

  constructor(share: number) {
    this.#share = share
  }

  admit(orgId: string, asked: readonly Bucket[], now: number): Verdict {
    const levels = this.#levelsOf(orgId)
    const buckets = asked.map((bucket) => ({ ...bucket, limit: this.#limitOf(bucket) }))
    const before = buckets.map((bucket) => levelNow(levels, bucket, now))
    let binding: Bucket | null = null
    let wait: number | null = 0
    for (const [at, bucket] of buckets.entries()) {
      const over = (before[at] ?? 0) + bucket.cost - bucket.limit
      // What was spent is in the ledger, which is not asked for every request: spend does not bind here.
      if (over <= 1e-7 || bucket.periodMs === 0 || wait === null) continue
      const free = bucket.cost > bucket.limit ? null : (over * bucket.periodMs) / bucket.limit
      if (free === null || binding === null || free > wait) [binding, wait] = [bucket, free]
    }
    const admitted = binding === null
    for (const [at, bucket] of buckets.entries()) {
      if (!admitted && !isTakenAlways(bucket.metric)) continue
      const level = (before[at] ?? 0) + bucket.cost
      levels.set(bucket.field, { bucket, level: admitted ? level : Math.min(bucket.limit, level), at: now })
    }
    return {
      admitted,
      buckets,
      before,
      binding,
      clockMicros: null,
      retryAfterMs: wait === null ? null : Math.ceil(wait),
    }
  }

  holds(orgId: string): boolean {
    return this.#organizations.has(orgId)
  }

  /** What this process let in by itself, to be counted where all count: forgotten here. */
  take(orgId: string, now: number): Used[] {
    const levels = this.#organizations.get(orgId)
    if (levels === undefined) return []
    this.#organizations.delete(orgId)
    // Spend is counted when it is settled, with what was really spent.
    const emptying = [...levels.values()].filter(({ bucket }) => bucket.periodMs > 0)
    return emptying.map(({ bucket: { field, limit, periodMs, metric } }) => {
      const amount = levelNow(levels, { field, limit, periodMs, metric, level: 'organization', cost: 0 }, now)
      return { field, limit: periodMs === 0 ? 0 : Math.max(limit, Math.round(limit / this.#share)), periodMs, amount }
    })
  }

  /** At least one request fits, however small the share. */
  #limitOf({ limit, metric }: Bucket): number {
    return metric === 'spend' ? limit : Math.max(1, Math.floor(limit * this.#share))
  }

  #levelsOf(orgId: string): Map<string, Level> {
    let levels = this.#organizations.get(orgId)
    if (levels === undefined) {
      levels = new Map()
      this.#organizations.set(orgId, levels)
      const [oldest] = this.#organizations.keys()
      if (this.#organizations.size > organizationsMax && oldest !== undefined) this.#organizations.delete(oldest)
    }
    return levels
  }
}

function levelNow(levels: Map<string, Level>, bucket: Bucket, now: number): number {
  const { field, limit, periodMs } = bucket
  const held = levels.get(field)
  if (held === undefined) {
    const level = periodMs === minuteMs ? limit : 0
    levels.set(field, { bucket, level, at: now })
    return level
  }
  if (periodMs === 0) return held.level
  return Math.max(0, held.level - (Math.max(0, now - held.at) * limit) / periodMs)
}
