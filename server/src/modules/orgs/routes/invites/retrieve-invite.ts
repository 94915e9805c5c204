import { retrieveInvite } from '@switchyard/contracts/organization/invites.ts'
import { route } from '#platform/http/route.ts'
import { inviteView } from '../../domain/invite-view.ts'
import { noSuch } from '../../domain/no-such.ts'
import { findInvite } from '../../store/invites.ts'
import type { OrgsUse } from '../../use.ts'

export const retrieveInviteRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(retrieveInvite, async ({ scope, params }) => {
    const invite = await findInvite(use.db.kysely, scope.orgId, params.invite_id)
    if (invite === null) throw noSuch('invite')
    return inviteView(invite)
  })
