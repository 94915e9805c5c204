import type { OrgId } from '@switchyard/contracts/ids.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { hasAdminKeyInForce } from '../store/keys.ts'
import { hasOwner } from '../store/members.ts'
import type { OrgsTables } from '../store/tables.ts'

/*
 * Both are asked after the change and inside its transaction, under the lock of the organisation: a refusal undoes it.
 */

export async function keepAnOwner(tx: Tx, orgId: OrgId): Promise<void> {
  if (await hasOwner(own<OrgsTables>(tx), orgId)) return
  throw new Fault('invalid_state_transition', 'The last owner of an organisation cannot be removed or demoted.')
}

export async function keepAnAdminKey(tx: Tx, orgId: OrgId): Promise<void> {
  if (await hasAdminKeyInForce(own<OrgsTables>(tx), orgId)) return
  throw new Fault('invalid_state_transition', 'This would end the last admin key in force. Create another one first.')
}
