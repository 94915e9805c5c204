import { updateProjectUser } from '@switchyard/contracts/organization/project-users.ts'
import { own } from '#platform/db/tx.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { userUpdated } from '../../domain/audit-event.ts'
import { noSuch } from '../../domain/no-such.ts'
import { projectUserView } from '../../domain/user-view.ts'
import { holdOpenProject } from '../../steps/in-project.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { findProjectMember, setProjectRole } from '../../store/project-members.ts'
import type { OrgsTables } from '../../store/tables.ts'
import type { OrgsUse } from '../../use.ts'

export const updateProjectUserRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(updateProjectUser, async (context) => {
    const { scope, params } = context
    const role = context.body.role ?? null
    return await use.db.tx(async (tx) => {
      const project = await holdOpenProject(tx, scope.orgId, params.project_id)
      if (role !== null && (await setProjectRole(tx, project.id, params.user_id, role))) {
        await recordAudit(tx, scope.orgId, actorOf(context), userUpdated(params.user_id, role, project.id))
      }
      const user = await findProjectMember(own<OrgsTables>(tx), project.id, params.user_id)
      if (user === null) throw noSuch('user')
      return projectUserView(user)
    })
  })
