import { listUsers } from '@switchyard/contracts/organization/users.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { route } from '#platform/http/route.ts'
import { userView } from '../../domain/user-view.ts'
import { checkUserCursor } from '../../steps/check-cursor.ts'
import { listMembers } from '../../store/members.ts'
import type { OrgsUse } from '../../use.ts'

export const listUsersRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(listUsers, async ({ scope, query }) => {
    checkUserCursor(query.after)
    const rows = await listMembers(use.db.kysely, scope.orgId, query)
    return pageView(rows, query.limit, userView)
  })
