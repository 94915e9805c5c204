import type { OrgId, ProjectId, ServiceAccountId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import type { OrgsReader, OrgsTables, PageOf, ProjectRole } from './tables.ts'

export interface ServiceAccountRow {
  id: ServiceAccountId
  name: string
  role: ProjectRole | 'none'
  created_at: Date
}

const columns = ['id', 'name', 'role', 'created_at'] as const

export async function insertServiceAccount(
  tx: Tx,
  account: { id: ServiceAccountId; org_id: OrgId; project_id: ProjectId; name: string; role: 'member' | 'none' },
): Promise<ServiceAccountRow> {
  return await own<OrgsTables>(tx)
    .insertInto('orgs.service_account')
    .values(account)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

const select = (orgs: OrgsReader, projectId: ProjectId) =>
  orgs
    .selectFrom('orgs.service_account')
    .select(columns)
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)

export async function findServiceAccount(
  orgs: OrgsReader,
  projectId: ProjectId,
  id: ServiceAccountId,
): Promise<ServiceAccountRow | null> {
  return (await select(orgs, projectId).where('id', '=', id).executeTakeFirst()) ?? null
}

/** Keeps the account as it is until the transaction ends: a key made for it cannot outlive its deletion. */
export async function holdServiceAccount(
  tx: Tx,
  projectId: ProjectId,
  id: ServiceAccountId,
): Promise<ServiceAccountRow | null> {
  const row = await select(own<OrgsTables>(tx), projectId).where('id', '=', id).forShare().executeTakeFirst()
  return row ?? null
}

export async function listServiceAccounts(
  orgs: OrgsReader,
  projectId: ProjectId,
  page: PageOf,
): Promise<ServiceAccountRow[]> {
  return await select(orgs, projectId)
    .$if(page.after !== undefined, (query) => query.where('id', '<', page.after as ServiceAccountId))
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute()
}

export async function changeServiceAccount(
  tx: Tx,
  projectId: ProjectId,
  id: ServiceAccountId,
  change: { name?: string; role?: ProjectRole },
): Promise<ServiceAccountRow | null> {
  const row = await own<OrgsTables>(tx)
    .updateTable('orgs.service_account')
    .set(change)
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .returning(columns)
    .executeTakeFirst()
  return row ?? null
}

/** Returns whether this call was the one. */
export async function endServiceAccount(tx: Tx, projectId: ProjectId, id: ServiceAccountId): Promise<boolean> {
  const ended = await own<OrgsTables>(tx)
    .updateTable('orgs.service_account')
    .set({ deleted_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return ended.numUpdatedRows === 1n
}
