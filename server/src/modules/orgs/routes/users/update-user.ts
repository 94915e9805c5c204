import { updateUser } from '@switchyard/contracts/organization/users.ts'
import { own } from '#platform/db/tx.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { userUpdated } from '../../domain/audit-event.ts'
import { noSuch } from '../../domain/no-such.ts'
import { refuseUnsupported } from '../../domain/unsupported.ts'
import { userView } from '../../domain/user-view.ts'
import { keepAnAdminKey, keepAnOwner } from '../../steps/keep-in-charge.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { findMember, setMemberRole } from '../../store/members.ts'
import { lockOrganization } from '../../store/organizations.ts'
import type { OrgsTables } from '../../store/tables.ts'
import type { OrgsUse } from '../../use.ts'

export const updateUserRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(updateUser, async (context) => {
    const { orgId } = context.scope
    const id = context.params.user_id
    const { role, ...unsupported } = context.body
    refuseUnsupported(unsupported)
    return await use.db.tx(async (tx) => {
      await lockOrganization(tx, orgId)
      if (typeof role === 'string' && (await setMemberRole(tx, orgId, id, role))) {
        if (role !== 'owner') {
          await keepAnOwner(tx, orgId)
          await keepAnAdminKey(tx, orgId)
        }
        await recordAudit(tx, orgId, actorOf(context), userUpdated(id, role, null))
      }
      const user = await findMember(own<OrgsTables>(tx), orgId, id)
      if (user === null) throw noSuch('user')
      return userView(user)
    })
  })
