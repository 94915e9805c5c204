import { retrieveProjectUser } from '@switchyard/contracts/organization/project-users.ts'
import { route } from '#platform/http/route.ts'
import { noSuch } from '../../domain/no-such.ts'
import { projectUserView } from '../../domain/user-view.ts'
import { getProject } from '../../steps/in-project.ts'
import { findProjectMember } from '../../store/project-members.ts'
import type { OrgsUse } from '../../use.ts'

export const retrieveProjectUserRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(retrieveProjectUser, async ({ scope, params }) => {
    const project = await getProject(use.db.kysely, scope.orgId, params.project_id)
    const user = await findProjectMember(use.db.kysely, project.id, params.user_id)
    if (user === null) throw noSuch('user')
    return projectUserView(user)
  })
