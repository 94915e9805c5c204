import type pg from 'pg'
import type { Bucket } from '../../server/src/modules/limits/domain/buckets.ts'
import { mostAbove, ReferenceLimiter } from '../../server/src/modules/limits/testing/reference-limiter.ts'
import { isOfMinute, periodOf } from './limited-fleet.ts'

interface AskedBucket {
  readonly bucket: string
  readonly level: Bucket['level']
  readonly metric: Bucket['metric']
  readonly limit: number
  readonly used_before: number
  readonly requested: number
}

/** A row of the log of decisions. */
export interface Decided {
  readonly requestId: string
  readonly kind: 'admitted' | 'refused' | 'settled' | 'released'
  /** By Valkey's clock; null: decided without it. */
  readonly micros: number | null
  readonly detail: {
    readonly buckets?: readonly AskedBucket[]
    readonly binding?: string | null
    readonly retry_after_ms?: number
    /** Of work in a line alone. */
    readonly waited_ms?: number
    readonly reservation?: string
    readonly reserved?: readonly { readonly field: string; readonly cost: number }[]
    readonly tokens?: number
    readonly cost_nanos?: number
    readonly by?: string
  }
}

export async function readDecisions(db: pg.Pool, orgId: string): Promise<Decided[]> {
  const { rows } = await db.query<Decided>(
    `select request_id as "requestId", kind, (detail ->> 'clock_micros')::float8 as micros, detail
     from limits.decision where org_id = $1 order by (detail ->> 'clock_micros')::float8, id`,
    [orgId],
  )
  return rows
}

export interface Replayed {
  readonly admitted: number
  readonly refused: number
  /** Refusals by what bound. */
  readonly bound: ReadonlyMap<string, number>
  /** What the same arithmetic admits, one after the other, in the order of the log. */
  readonly serial: number
  /** Decisions, or levels that they saw, which the serial arithmetic has otherwise. */
  readonly different: number
  /** Decided or settled without Valkey, or by it without anybody hearing of it in time. */
  readonly unheard: number
  /** The most that any stretch of time admitted above its due: at most zero. */
  readonly above: { readonly requests: number; readonly tokens: number }
  readonly limiter: ReferenceLimiter
}

const levelTolerance = 1e-5

/** Carries the log out again, one decision after the other, by the plain arithmetic. */
export function replay(log: readonly Decided[], settlesTokens: boolean): Replayed {
  const limiter = new ReferenceLimiter()
  const heard = new Set(log.flatMap(({ kind, requestId }) => (kind === 'admitted' ? [requestId] : [])))
  const ended = endedIn(log)
  const bound = new Map<string, number>()
  let [serial, different, unheard] = [0, 0, 0]
  for (const { requestId, kind, micros, detail } of log) {
    // Work that is told to wait takes nothing.
    if (kind === 'refused' && detail.waited_ms !== undefined) continue
    if (micros === null) {
      unheard += 1
    } else if (kind === 'admitted' || kind === 'refused') {
      const asked = (detail.buckets ?? []).map(bucketOf)
      const verdict = limiter.ask(requestId, asked, micros)
      if (verdict === 'again') different += 1
      else {
        if (verdict.admitted) serial += 1
        if (verdict.admitted !== (kind === 'admitted') || !isSame(verdict.before, detail.buckets ?? [])) different += 1
      }
      if (kind === 'admitted' && !ended.has(requestId)) unheard += 1
      if (kind === 'refused') bound.set(wordFor(detail), (bound.get(wordFor(detail)) ?? 0) + 1)
    } else {
      if (!heard.has(requestId)) unheard += 1
      if (kind === 'released') limiter.release(detail.reservation ?? '', micros)
      else
        limiter.settle(
          detail.reservation ?? '',
          settlesTokens ? (detail.tokens ?? 0) : null,
          detail.cost_nanos ?? 0,
          micros,
        )
    }
  }
  const count = (wanted: Decided['kind']) => log.filter(({ kind }) => kind === wanted).length
  const above = { requests: aboveOf(log, 'RPM', settlesTokens), tokens: aboveOf(log, 'TPM', settlesTokens) }
  return { admitted: count('admitted'), refused: count('refused'), bound, serial, different, unheard, above, limiter }
}

const bucketOf = ({ bucket, level, metric, limit, requested }: AskedBucket): Bucket => ({
  field: bucket,
  level,
  metric,
  limit,
  periodMs: periodOf(metric),
  cost: requested,
})

/** Days and spend are counted again from the ledger in quiet moments, which is not in this log, and never bind here. */
const isSame = (levels: readonly number[], asked: readonly AskedBucket[]) =>
  asked.every(
    ({ metric, used_before: saw }, at) => !isOfMinute(metric) || Math.abs((levels[at] ?? NaN) - saw) < levelTolerance,
  )

const wordFor = ({ binding, retry_after_ms: retry }: Decided['detail']) =>
  retry === undefined ? 'too large' : (binding?.split(':')[0] ?? '')

const endedIn = (log: readonly Decided[]) =>
  new Set(log.flatMap(({ detail }) => (detail.reservation === undefined ? [] : [detail.reservation])))

/** Of every bucket of a metric, what was admitted and given back again, against what the time allows. */
function aboveOf(log: readonly Decided[], metric: Bucket['metric'], settlesTokens: boolean): number {
  const limits = new Map<string, number>()
  const events = new Map<string, { at: number; amount: number; admission: boolean }[]>()
  const add = (field: string, at: number, amount: number, admission: boolean) => {
    const held = events.get(field) ?? []
    held.push({ at, amount, admission })
    events.set(field, held)
  }
  const ended = endedIn(log)
  for (const { requestId, kind, micros, detail } of log) {
    if (micros === null) continue
    // Tokens that were given back nobody knows when do not count; requests are never given back.
    if (kind === 'admitted' && (metric === 'RPM' || ended.has(requestId)))
      for (const one of detail.buckets ?? [])
        if (one.metric === metric) {
          limits.set(one.bucket, one.limit)
          add(one.bucket, micros, one.requested, true)
        }
    if (kind === 'released' || (kind === 'settled' && settlesTokens))
      for (const { field, cost } of detail.reserved ?? [])
        if (limits.has(field)) add(field, micros, (kind === 'settled' ? (detail.tokens ?? 0) : 0) - cost, false)
  }
  return Math.max(...[...limits].map(([field, limit]) => mostAbove(events.get(field) ?? [], limit, periodOf(metric))))
}
