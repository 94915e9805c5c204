import type { Orgs } from '#modules/orgs/index.ts'
import type { Db } from '#platform/db/db.ts'
import type { LimitedModel } from '../domain/limits-book.ts'
import type { TierUses } from '../steps/evaluate-tier.ts'
import type { LimitsTables } from '../store/tables.ts'

/** What the routes of administration and reading use. */
export interface LimitsRouteUses extends TierUses {
  readonly db: Db<LimitsTables>
  readonly models: readonly LimitedModel[]
  readonly orgs: TierUses['orgs'] & Pick<Orgs, 'findProject' | 'keyUsers' | 'keysOfUsers'>
  /** PostgreSQL's clock: months and buckets end by it. */
  readonly now: () => Promise<Date>
}
