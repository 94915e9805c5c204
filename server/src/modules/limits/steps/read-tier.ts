import type { OrgId } from '@switchyard/contracts/ids.ts'
import type { Orgs } from '#modules/orgs/index.ts'
import type { Db } from '#platform/db/db.ts'
import type { LimitsBook } from '../domain/limits-book.ts'
import { startingTier, type Standing } from '../domain/tier-standing.ts'
import { findStanding } from '../store/tier-standings.ts'
import type { LimitsTables } from '../store/tables.ts'

export interface ReadTierUses {
  readonly db: Db<LimitsTables>
  readonly book: LimitsBook
  readonly orgs: Pick<Orgs, 'findOrganization'>
}

export async function readStanding(use: ReadTierUses, orgId: OrgId): Promise<Standing> {
  const kept = await findStanding(use.db.kysely, orgId)
  if (kept !== null) return kept
  const region = (await use.orgs.findOrganization(orgId))?.region ?? null
  return { tier: startingTier(use.book, region), pinnedTier: null }
}
