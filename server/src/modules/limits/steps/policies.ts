import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { assert } from '#platform/std/assert.ts'
import type { Policy } from '../domain/buckets.ts'
import type { LimitsBook } from '../domain/limits-book.ts'
import { findStanding, type Standing } from '../store/standing.ts'
import type { LimitsTables } from '../store/tables.ts'

/** A change of tier or limits holds everywhere within this. */
const keptMs = 2_000
const keptMax = 10_000
const nanosPerCent = 10_000_000

export interface PoliciesUses {
  readonly db: Db<LimitsTables>
  readonly book: LimitsBook
  /** Makes an organisation's row from what it has paid. */
  readonly evaluate: (orgId: string) => Promise<void>
}

interface Kept {
  readonly policy: Promise<Policy | null>
  readonly until: number
}

/** What holds for each project, remembered for a moment. */
export class Policies {
  readonly #use: PoliciesUses
  readonly #kept = new Map<string, Kept>()

  constructor(use: PoliciesUses) {
    this.#use = use
  }

  /** Null: no limits. Throws `region_not_allowed`. */
  get(orgId: string, projectId: string): Promise<Policy | null> {
    const key = `${orgId} ${projectId}`
    const kept = this.#kept.get(key)
    if (kept !== undefined && kept.until > performance.now()) return kept.policy
    const policy = this.#read(orgId, projectId)
    this.#kept.delete(key)
    this.#kept.set(key, { policy, until: performance.now() + keptMs })
    policy.catch(() => this.#kept.delete(key))
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest)
    return policy
  }

  forget(orgId: string): void {
    for (const key of this.#kept.keys()) if (key.startsWith(`${orgId} `)) this.#kept.delete(key)
  }

  async #read(orgId: string, projectId: string): Promise<Policy | null> {
    const { db, evaluate } = this.#use
    let standing = await findStanding(db, orgId, projectId)
    if (standing === null) {
      await evaluate(orgId)
      standing = await findStanding(db, orgId, projectId)
    }
    assert(standing !== null, 'an organisation that was evaluated has a standing')
    return this.#policyOf(standing)
  }

  #policyOf({ tier, organizationCents, projectCents, project }: Standing): Policy | null {
    if (tier === 'unlimited') return null
    if (tier === 'none') {
      throw new Fault(
        'region_not_allowed',
        'This organisation is outside the regions where it may start for free. A payment of 5 USD opens tier 1.',
      )
    }
    const { monthlyCents } = this.#use.book.tiers[tier]
    return {
      tier,
      monthlyNanos: Math.min(monthlyCents, organizationCents ?? monthlyCents) * nanosPerCent,
      projectMonthlyNanos: projectCents === null ? null : projectCents * nanosPerCent,
      project,
    }
  }
}
