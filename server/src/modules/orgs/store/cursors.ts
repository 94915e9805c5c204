import type { OrgId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { OrgsReader } from './tables.ts'

export type PagedTable = 'orgs.project' | 'orgs.api_key' | 'orgs.service_account' | 'orgs.invite'

/** Whether a page can start after this id. What was deleted still can be paged from: its row stays. */
export async function isCursor(orgs: OrgsReader, table: PagedTable, orgId: OrgId, id: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${sql.table(table)} where id = ${id} and org_id = ${orgId}`.execute(orgs)
  return rows.length === 1
}
