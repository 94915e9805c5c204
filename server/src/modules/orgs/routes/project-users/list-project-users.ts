import { listProjectUsers } from '@switchyard/contracts/organization/project-users.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { route } from '#platform/http/route.ts'
import { projectUserView } from '../../domain/user-view.ts'
import { checkUserCursor } from '../../steps/check-cursor.ts'
import { getProject } from '../../steps/in-project.ts'
import { listProjectMembers } from '../../store/project-members.ts'
import type { OrgsUse } from '../../use.ts'

export const listProjectUsersRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(listProjectUsers, async ({ scope, params, query }) => {
    const project = await getProject(use.db.kysely, scope.orgId, params.project_id)
    checkUserCursor(query.after)
    const rows = await listProjectMembers(use.db.kysely, project.id, query)
    return pageView(rows, query.limit, projectUserView)
  })
