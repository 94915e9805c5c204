import type { AdAccountId, OrgId } from '@switchyard/contracts/ids.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { OrgsReader, OrgsTables } from './tables.ts'

export async function insertAdAccount(tx: Tx, account: { id: AdAccountId; org_id: OrgId }): Promise<void> {
  await own<OrgsTables>(tx).insertInto('orgs.ad_account').values(account).execute()
}

export async function hasAdAccount(orgs: OrgsReader, orgId: OrgId, id: AdAccountId): Promise<boolean> {
  const row = await orgs
    .selectFrom('orgs.ad_account')
    .select('id')
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return row !== undefined
}
