import { isTakenAlways, type Asker, type Bucket } from '../domain/buckets.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { Used } from './valkey-buckets.ts'

interface Level {
  readonly bucket: Bucket
  /** What the next request is measured by. */
  readonly level: number
  /** Of it, what was let in here. */
  readonly taken: number
  readonly at: number
}

/** What an organisation was let in for while Valkey was away. */
export interface LetIn {
  readonly since: number
  readonly levels: Map<string, Level>
  /** By bucket, the last slot that was promised to a request that it refused. */
  readonly promised: Map<string, number>
}

/** Organisations that are remembered at once; beyond it the oldest is forgotten. */
const organizationsMax = 10_000
const minuteMs = 60_000
/** Slots are a little wider apart than the bucket gives them out. */
const slotShare = 1.1

/**
 * The buckets of this process alone, for the time that Valkey is away. Each has a share of the limit, so that the nodes
 * together stay below the whole, and those of a minute start with nothing left: what was used before is not known here.
 */
export class LocalBuckets {
  readonly #share: number
  readonly #organizations = new Map<string, LetIn>()

  constructor(share: number) {
    this.#share = share
  }

  admit(orgId: string, asked: readonly Bucket[], now: number, asker: Asker = 'request'): Verdict {
    const { levels, promised } = this.#letInOf(orgId, now)
    const buckets = asked.map((bucket) => ({ ...bucket, limit: this.#limitOf(bucket) }))
    const held = buckets.map((bucket) => levelNow(levels.get(bucket.field), bucket, now))
    let binding: Bucket | null = null
    let wait: number | null = 0
    for (const [at, bucket] of buckets.entries()) {
      const over = (held[at]?.level ?? 0) + bucket.cost - bucket.limit
      // What was spent is in the ledger, which is not asked for every request: spend does not bind here.
      if (over <= 1e-7 || bucket.periodMs === 0 || wait === null) continue
      const free = waitOf(bucket, asked[at]?.limit ?? 0, over, asker)
      if (free === null || binding === null || free > wait) [binding, wait] = [bucket, free]
    }
    const admitted = binding === null
    for (const [at, bucket] of buckets.entries()) {
      const { level, taken } = held[at] ?? { level: 0, taken: 0 }
      if (admitted)
        levels.set(bucket.field, { bucket, level: level + bucket.cost, taken: taken + bucket.cost, at: now })
      // A limit that was lowered may be below what is in the bucket: that stays.
      else if (isTakenAlways(bucket.metric, asker)) {
        const full = Math.max(level, Math.min(bucket.limit, level + bucket.cost))
        levels.set(bucket.field, { bucket, level: full, taken: taken + full - level, at: now })
      } else levels.set(bucket.field, { bucket, level, taken, at: now })
    }
    const before = held.map(({ level }) => level)
    const retryAfterMs = binding === null || wait === null ? wait : slotOf(promised, binding, wait, now, asker)
    return { admitted, buckets, before, binding, clockMicros: null, retryAfterMs }
  }

  /** What this process let in by itself, to be counted where all count: forgotten here. */
  take(orgId: string): LetIn | null {
    const letIn = this.#organizations.get(orgId) ?? null
    this.#organizations.delete(orgId)
    return letIn
  }

  /** It could not be counted yet. */
  giveBack(orgId: string, letIn: LetIn): void {
    if (!this.#organizations.has(orgId)) this.#organizations.set(orgId, letIn)
  }

  /** Spend is not part of it: that is counted when it is settled, with what was really spent. */
  usedOf({ levels }: LetIn, now: number): Used[] {
    const emptying = [...levels.values()].filter(({ bucket }) => bucket.periodMs > 0)
    return emptying.map((held) => {
      const { field, limit, periodMs } = held.bucket
      const { taken } = levelNow(held, held.bucket, now)
      return { field, limit: Math.max(limit, Math.round(limit / this.#share)), periodMs, amount: taken }
    })
  }

  /** At least one request fits, however small the share. */
  #limitOf({ limit, metric }: Bucket): number {
    return metric === 'spend' ? limit : Math.max(1, Math.floor(limit * this.#share))
  }

  #letInOf(orgId: string, now: number): LetIn {
    let letIn = this.#organizations.get(orgId)
    if (letIn === undefined) {
      letIn = { since: now, levels: new Map(), promised: new Map() }
      this.#organizations.set(orgId, letIn)
      const [oldest] = this.#organizations.keys()
      if (this.#organizations.size > organizationsMax && oldest !== undefined) this.#organizations.delete(oldest)
    }
    return letIn
  }
}

/** Null: it never fits. What fits only into the whole limit has to wait until all share it again. */
function waitOf({ cost, limit, periodMs, metric }: Bucket, whole: number, over: number, asker: Asker): number | null {
  if (cost > whole) return null
  if (cost > limit) return minuteMs
  const free = (over * periodMs) / limit
  return isTakenAlways(metric, asker) ? Math.max(free, (cost * periodMs) / limit) : free
}

/** Everyone who is refused is told a slot of their own, as by Valkey. */
function slotOf(
  promised: Map<string, number>,
  { field, cost, periodMs, limit }: Bucket,
  wait: number,
  now: number,
  asker: Asker,
): number {
  // Work comes one by one, and is told nothing but when there is room.
  if (asker !== 'request') return Math.ceil(wait)
  const last = promised.get(field)
  const each = (slotShare * cost * periodMs) / limit
  const slot = last === undefined ? now + wait : Math.max(now + wait, last + each)
  if (slot - now > minuteMs) return Math.ceil(Math.max(wait, Math.min(slot - now, minuteMs)))
  promised.set(field, slot)
  return Math.ceil(slot - now)
}

function levelNow(held: Level | undefined, { limit, periodMs }: Bucket, now: number): { level: number; taken: number } {
  if (held === undefined) return { level: periodMs === minuteMs ? limit : 0, taken: 0 }
  if (periodMs === 0) return held
  const emptied = (Math.max(0, now - held.at) * limit) / periodMs
  return { level: Math.max(0, held.level - emptied), taken: Math.max(0, held.taken - emptied) }
}
