import type { OrgId } from '@switchyard/contracts/ids.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { OrgsReader, OrgsTables } from './tables.ts'

export interface OrganizationRow {
  id: OrgId
  name: string
  region: string | null
  created_at: Date
}

const columns = ['id', 'name', 'region', 'created_at'] as const

export async function insertOrganization(
  tx: Tx,
  organization: { id: OrgId; name: string; region: string | null },
): Promise<void> {
  await own<OrgsTables>(tx).insertInto('orgs.organization').values(organization).execute()
}

export async function findOrganization(orgs: OrgsReader, id: OrgId): Promise<OrganizationRow | null> {
  const row = await orgs.selectFrom('orgs.organization').select(columns).where('id', '=', id).executeTakeFirst()
  return row ?? null
}

export async function getOrganization(orgs: OrgsReader, id: OrgId): Promise<OrganizationRow> {
  return await orgs.selectFrom('orgs.organization').select(columns).where('id', '=', id).executeTakeFirstOrThrow()
}

export async function renameOrganization(tx: Tx, id: OrgId, name: string): Promise<OrganizationRow> {
  return await own<OrgsTables>(tx)
    .updateTable('orgs.organization')
    .set({ name })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/**
 * Changes that must leave somebody in charge, or must not happen twice, go one after the other within an organisation.
 * The lock does not hinder rows that merely refer to the organisation.
 */
export async function lockOrganization(tx: Tx, id: OrgId): Promise<void> {
  await own<OrgsTables>(tx)
    .selectFrom('orgs.organization')
    .select('id')
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}
