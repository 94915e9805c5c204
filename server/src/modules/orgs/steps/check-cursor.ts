import type { OrgId } from '@switchyard/contracts/ids.ts'
import { Fault } from '#platform/errors/fault.ts'
import { timeOfId } from '#platform/std/ids.ts'
import { isCursor, type PagedTable } from '../store/cursors.ts'
import type { OrgsReader } from '../store/tables.ts'

const unknownCursor = () => new Fault('invalid_value', 'Nothing has the id given in after.', { param: 'after' })

export async function checkCursor(
  orgs: OrgsReader,
  table: PagedTable,
  orgId: OrgId,
  after: string | undefined,
): Promise<void> {
  if (after !== undefined && !(await isCursor(orgs, table, orgId, after))) throw unknownCursor()
}

/** Memberships leave no row behind, so only the form is checked: whoever removes people while paging can go on. */
export function checkUserCursor(after: string | undefined): void {
  if (after !== undefined && timeOfId('user-', after) === null) throw unknownCursor()
}
