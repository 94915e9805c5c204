import { retrieveUser } from '@switchyard/contracts/organization/users.ts'
import { route } from '#platform/http/route.ts'
import { noSuch } from '../../domain/no-such.ts'
import { userView } from '../../domain/user-view.ts'
import { findMember } from '../../store/members.ts'
import type { OrgsUse } from '../../use.ts'

export const retrieveUserRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(retrieveUser, async ({ scope, params }) => {
    const user = await findMember(use.db.kysely, scope.orgId, params.user_id)
    if (user === null) throw noSuch('user')
    return userView(user)
  })
