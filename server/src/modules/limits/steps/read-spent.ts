import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { monthStart } from '../domain/month.ts'
import type { LimitsTables } from '../store/tables.ts'
import { findSpent } from '../store/usage.ts'

export interface ReadSpentUses {
  readonly db: Db<LimitsTables>
  readonly now: () => Promise<Date>
}

/** This month, in billionths of a US dollar; of the organisation when there is no project. */
export async function readSpent(use: ReadSpentUses, orgId: OrgId, projectId: ProjectId | null): Promise<number> {
  const spent = await findSpent(use.db, orgId, monthStart(await use.now()))
  return spent
    .filter(({ project_id: id }) => projectId === null || id === projectId)
    .reduce((sum, { nanos }) => sum + nanos, 0)
}
