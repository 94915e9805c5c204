import type { OrgId } from '@switchyard/contracts/ids.ts'
import { sql, type Kysely } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import type { Standing } from '../domain/tier-standing.ts'
import type { LimitsTables } from './tables.ts'

interface StandingRow {
  tier: Standing['tier']
  pinned_tier: Standing['pinnedTier']
}

const standingOf = (row: StandingRow): Standing => ({ tier: row.tier, pinnedTier: row.pinned_tier })

/** Null: nothing was ever paid or set. */
export async function findStanding(limits: Kysely<LimitsTables>, orgId: OrgId): Promise<Standing | null> {
  const row = await limits
    .selectFrom('limits.organization')
    .select(['tier', 'pinned_tier'])
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return row === undefined ? null : standingOf(row)
}

/** Evaluations of one organisation go one after the other. Without a row it starts with the tier given. */
export async function holdStanding(tx: Tx, orgId: OrgId, starting: Standing['tier']): Promise<Standing> {
  const limits = own<LimitsTables>(tx)
  await limits
    .insertInto('limits.organization')
    .values({ org_id: orgId, tier: starting, pinned_tier: null, opened_at: null })
    .onConflict((conflict) => conflict.column('org_id').doNothing())
    .execute()
  const row = await limits
    .selectFrom('limits.organization')
    .select(['tier', 'pinned_tier'])
    .where('org_id', '=', orgId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  return standingOf(row)
}

export async function saveStanding(tx: Tx, orgId: OrgId, { tier, pinnedTier }: Standing): Promise<void> {
  await own<LimitsTables>(tx)
    .updateTable('limits.organization')
    .set({ tier, pinned_tier: pinnedTier })
    .where('org_id', '=', orgId)
    .execute()
}

export interface PaidStanding {
  readonly orgId: OrgId
  readonly tier: Standing['tier']
  readonly paidCents: number
}

/** A page over all organisations that have a standing, by id. */
export async function listPaidStandings(
  limits: Kysely<LimitsTables>,
  after: string,
  countMax: number,
): Promise<PaidStanding[]> {
  return await limits
    .selectFrom('limits.organization as o')
    .select(['o.tier', sql<OrgId>`o.org_id`.as('orgId')])
    .select(
      sql<number>`coalesce((select sum(amount_cents) from limits.payment p where p.org_id = o.org_id), 0)`.as(
        'paidCents',
      ),
    )
    .where('o.org_id', '>', after)
    .orderBy('o.org_id')
    .limit(countMax)
    .execute()
}
