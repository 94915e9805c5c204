import { deleteUser } from '@switchyard/contracts/organization/users.ts'
import { own } from '#platform/db/tx.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { userDeleted } from '../../domain/audit-event.ts'
import { noSuch } from '../../domain/no-such.ts'
import { keepAnAdminKey, keepAnOwner } from '../../steps/keep-in-charge.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { revokeKeysOf } from '../../store/keys.ts'
import { deleteMember, findMember } from '../../store/members.ts'
import { lockOrganization } from '../../store/organizations.ts'
import type { OrgsTables } from '../../store/tables.ts'
import type { OrgsUse } from '../../use.ts'

export const deleteUserRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(deleteUser, async (context) => {
    const { orgId } = context.scope
    const id = context.params.user_id
    await use.db.tx(async (tx) => {
      await lockOrganization(tx, orgId)
      const user = await findMember(own<OrgsTables>(tx), orgId, id)
      if (user === null || !(await deleteMember(tx, orgId, id))) throw noSuch('user')
      if (user.role === 'owner') await keepAnOwner(tx, orgId)
      const keysRevoked = await revokeKeysOf(tx, orgId, { userId: id })
      await keepAnAdminKey(tx, orgId)
      await recordAudit(tx, orgId, actorOf(context), userDeleted(id, null, keysRevoked))
    })
    return { id, object: 'organization.user.deleted', deleted: true } as const
  })
