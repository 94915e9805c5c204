import type { Bucket, Metric } from '../domain/buckets.ts'

/** What a limiter answered: how full each bucket was before, and which one refused. */
export interface ReferenceVerdict {
  readonly admitted: boolean
  readonly before: readonly number[]
  readonly binding: Bucket | null
  /** When the bucket that refused has room; null: waiting does not help. */
  readonly waitMicros: number | null
}

interface Level {
  readonly level: number
  readonly at: number
}

type Asked = Pick<Bucket, 'field' | 'metric' | 'limit' | 'periodMs' | 'cost'>

/** Sums of fractions are not exact: so much over a limit is still within it. */
const tolerance = 1e-7
const minuteMs = 60_000
/** Corrected to what was used. */
const settledTokens: readonly Metric[] = ['TPM', 'TPD']
/** Taken by every request, and never given back. */
const takenAlways: readonly Metric[] = ['RPM']

/**
 * The rules of the limiter in plain words, one request after the other: what the real one is held against. A bucket is
 * how full it was and when; it empties itself evenly, limit per period. A request is let in when it fits into every
 * bucket, and is then charged in all of them. One that is refused takes from the per-minute request buckets alone, as
 * far as there is something left. What a request reserved is settled to what it used, or released, once.
 */
export class ReferenceLimiter {
  readonly #levels = new Map<string, Level>()
  readonly #open = new Map<string, readonly Asked[]>()
  /** What a bucket holds that nobody has asked before. */
  readonly #first: (bucket: Asked, now: number) => number

  constructor(first: (bucket: Asked, now: number) => number = () => 0) {
    this.#first = first
  }

  get open(): ReadonlySet<string> {
    return new Set(this.#open.keys())
  }

  /** Microseconds. `again`: what it asks for is reserved already. */
  ask(id: string, asked: readonly Bucket[], now: number): ReferenceVerdict | 'again' {
    if (this.#open.has(id)) return 'again'
    const before = asked.map((bucket) => this.level(bucket, now))
    const over = asked.flatMap((bucket, at) => {
      const above = (before[at] ?? 0) + bucket.cost - bucket.limit
      return above > tolerance ? [{ bucket, waitMicros: waitFor(bucket, above) }] : []
    })
    const bound =
      over.find(({ waitMicros }) => waitMicros === null) ??
      over.reduce<(typeof over)[number] | null>(
        (most, one) => (most === null || (one.waitMicros ?? 0) > (most.waitMicros ?? 0) ? one : most),
        null,
      )
    for (const [at, bucket] of asked.entries()) {
      const level = before[at] ?? 0
      if (bound === null) this.#set(bucket, level + bucket.cost, now)
      else if (takenAlways.includes(bucket.metric))
        this.#set(bucket, Math.max(level, Math.min(bucket.limit, level + bucket.cost)), now)
    }
    if (bound === null) this.#open.set(id, asked)
    return { admitted: bound === null, before, binding: bound?.bucket ?? null, waitMicros: bound?.waitMicros ?? null }
  }

  /** Tokens null: their charge stands. Gives whether it was this call that settled it. */
  settle(id: string, tokens: number | null, spend: number, now: number): boolean {
    return this.#close(id, now, ({ metric, cost }) => {
      if (metric === 'spend') return spend - cost
      return tokens !== null && settledTokens.includes(metric) ? tokens - cost : 0
    })
  }

  release(id: string, now: number): boolean {
    return this.#close(id, now, ({ metric, cost }) => (takenAlways.includes(metric) ? 0 : -cost))
  }

  /** Used without having been asked for. */
  add(bucket: Asked, amount: number, now: number): void {
    this.#set(bucket, this.level(bucket, now) + amount, now)
  }

  level(bucket: Asked, now: number): number {
    const held = this.#levels.get(bucket.field)
    if (held === undefined) return this.#first(bucket, now)
    if (bucket.periodMs === 0 || now <= held.at) return held.level
    return Math.max(0, held.level - ((now - held.at) * bucket.limit) / (bucket.periodMs * 1_000))
  }

  #close(id: string, now: number, change: (bucket: Asked) => number): boolean {
    const asked = this.#open.get(id)
    if (asked === undefined) return false
    this.#open.delete(id)
    for (const bucket of asked) {
      const by = change(bucket)
      if (by !== 0) this.#set(bucket, Math.max(0, this.level(bucket, now) + by), now)
    }
    return true
  }

  #set({ field }: Asked, level: number, at: number): void {
    this.#levels.set(field, { level, at })
  }
}

function waitFor({ periodMs, cost, limit }: Asked, above: number): number | null {
  return periodMs === 0 || cost > limit ? null : (above * (periodMs * 1_000)) / limit
}

/** Minute buckets that were lost at a time: full then, and emptying themselves since. */
export const fullSince =
  (lostAt: number) =>
  ({ periodMs, limit }: Asked, now: number): number =>
    periodMs === minuteMs ? Math.max(0, limit - ((now - lostAt) * limit) / (periodMs * 1_000)) : 0

/**
 * The most that any stretch of admissions had above what is promised: `limit + limit x T / period` over T. What was
 * given back in between is not used any more; a stretch ends with an admission.
 */
export function mostAbove(
  events: readonly { readonly at: number; readonly amount: number; readonly admission: boolean }[],
  limit: number,
  periodMs: number,
): number {
  // The sum of a stretch less what its time gives: the best stretch that ends here is found from the one that ends before.
  let best = 0
  let most = -limit
  let last = events[0]?.at ?? 0
  for (const { at, amount, admission } of events) {
    const given = ((at - last) * limit) / (periodMs * 1_000)
    best = Math.max(best - given, 0) + amount
    last = at
    if (admission) most = Math.max(most, best - limit)
  }
  return most
}
