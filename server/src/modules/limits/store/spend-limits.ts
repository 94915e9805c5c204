import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { sql, type Kysely } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import type { LimitsTables } from './tables.ts'

/** Null is the organisation as a whole. */
export interface SpendPlace {
  readonly orgId: OrgId
  readonly projectId: ProjectId | null
}

const rowOf = ({ orgId, projectId }: SpendPlace) => ({ org_id: orgId, project_id: projectId ?? '' })

export async function findSpendLimit(limits: Kysely<LimitsTables>, place: SpendPlace): Promise<number | null> {
  const { org_id: orgId, project_id: projectId } = rowOf(place)
  const row = await limits
    .selectFrom('limits.spend_limit')
    .select('threshold_cents')
    .where('org_id', '=', orgId)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  return row?.threshold_cents ?? null
}

/** Whether there was none before. */
export async function saveSpendLimit(tx: Tx, place: SpendPlace, thresholdCents: number): Promise<boolean> {
  const { created } = await own<LimitsTables>(tx)
    .insertInto('limits.spend_limit')
    .values({ ...rowOf(place), threshold_cents: thresholdCents })
    .onConflict((conflict) =>
      conflict.columns(['org_id', 'project_id']).doUpdateSet({ threshold_cents: thresholdCents }),
    )
    // A row that an update has replaced carries the number of the transaction that did it.
    .returning(sql<boolean>`xmax = 0`.as('created'))
    .executeTakeFirstOrThrow()
  return created
}

/** Whether there was one. */
export async function deleteSpendLimit(tx: Tx, place: SpendPlace): Promise<boolean> {
  const { org_id: orgId, project_id: projectId } = rowOf(place)
  const gone = await own<LimitsTables>(tx)
    .deleteFrom('limits.spend_limit')
    .where('org_id', '=', orgId)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  return gone.numDeletedRows === 1n
}
