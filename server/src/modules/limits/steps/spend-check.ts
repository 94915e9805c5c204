import type { Db } from '#platform/db/db.ts'
import type { Charged } from '../admission/admission.ts'
import type { Bucket, Level } from '../domain/buckets.ts'
import { monthOf, monthStart } from '../domain/month.ts'
import { refusal } from '../domain/refusal.ts'
import type { LimitsTables } from '../store/tables.ts'
import { findSpent } from '../store/usage.ts'
import type { Policies } from './policies.ts'

export interface SpendCheckUses {
  readonly db: Db<LimitsTables>
  readonly policies: Policies
}

/** The ledger of a month is not summed up for every line of a batch. */
const keptMs = 5_000
const keptMax = 10_000

interface Kept {
  readonly spent: ReturnType<typeof findSpent>
  readonly until: number
}

/** Whether the month's limit is reached, by the ledger of a moment ago. */
export class SpendCheck {
  readonly #use: SpendCheckUses
  readonly #kept = new Map<string, Kept>()

  constructor(use: SpendCheckUses) {
    this.#use = use
  }

  /** Throws `insufficient_quota`. */
  async check(charged: Charged): Promise<void> {
    const { orgId, projectId } = charged
    const policy = await this.#use.policies.get(orgId, projectId)
    if (policy === null) return
    const spent = await this.#spent(orgId)
    const sum = (rows: typeof spent) => rows.reduce((all, { nanos }) => all + nanos, 0)
    const { monthlyNanos, projectMonthlyNanos } = policy
    if (sum(spent) >= monthlyNanos) throw over(charged, 'organization', monthlyNanos)
    if (projectMonthlyNanos === null) return
    const own = spent.filter(({ project_id: id }) => id === projectId)
    if (sum(own) >= projectMonthlyNanos) throw over(charged, 'project', projectMonthlyNanos)
  }

  /** Whether a spend bucket is full only of what requests have reserved that have not ended: most of it comes back. */
  async isReserved({ orgId, projectId }: Charged, { level, limit, cost }: Bucket): Promise<boolean> {
    const spent = await this.#spent(orgId)
    const counted = spent.filter(({ project_id: id }) => level === 'organization' || id === projectId)
    return counted.reduce((sum, { nanos }) => sum + nanos, 0) + cost <= limit
  }

  #spent(orgId: string): ReturnType<typeof findSpent> {
    const kept = this.#kept.get(orgId)
    if (kept !== undefined && kept.until > performance.now()) return kept.spent
    if (this.#kept.size >= keptMax) this.#kept.clear()
    const spent = findSpent(this.#use.db, orgId, monthStart(new Date()))
    this.#kept.set(orgId, { spent, until: performance.now() + keptMs })
    spent.catch(() => this.#kept.delete(orgId))
    return spent
  }
}

function over(charged: Charged, level: Level, limit: number): Error {
  const month = monthOf(new Date())
  const binding: Bucket = { field: `spend:${month}`, level, metric: 'spend', limit, periodMs: 0, cost: 0 }
  return refusal(
    { admitted: false, buckets: [binding], before: [limit], binding, clockMicros: null, retryAfterMs: null },
    { ...charged, name: month },
  )
}
