import { deleteInvite } from '@switchyard/contracts/organization/invites.ts'
import { own } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { inviteDeleted } from '../../domain/audit-event.ts'
import { noSuch } from '../../domain/no-such.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { endInvite, findInvite } from '../../store/invites.ts'
import type { OrgsTables } from '../../store/tables.ts'
import type { OrgsUse } from '../../use.ts'

export const deleteInviteRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(deleteInvite, async (context) => {
    const { orgId } = context.scope
    const id = context.params.invite_id
    await use.db.tx(async (tx) => {
      if (!(await endInvite(tx, orgId, id))) {
        if ((await findInvite(own<OrgsTables>(tx), orgId, id)) === null) throw noSuch('invite')
        throw new Fault('invalid_state_transition', 'The invite was accepted and cannot be taken back.')
      }
      await recordAudit(tx, orgId, actorOf(context), inviteDeleted(id))
    })
    return { id, object: 'organization.invite.deleted', deleted: true } as const
  })
