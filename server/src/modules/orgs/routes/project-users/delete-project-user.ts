import { deleteProjectUser } from '@switchyard/contracts/organization/project-users.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { userDeleted } from '../../domain/audit-event.ts'
import { noSuch } from '../../domain/no-such.ts'
import { holdOpenProject } from '../../steps/in-project.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { deleteProjectMember } from '../../store/project-members.ts'
import type { OrgsUse } from '../../use.ts'

/** Their keys of the project are not revoked: they are out of force while their owner is out of the project. */
export const deleteProjectUserRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(deleteProjectUser, async (context) => {
    const { scope, params } = context
    await use.db.tx(async (tx) => {
      const project = await holdOpenProject(tx, scope.orgId, params.project_id)
      if (!(await deleteProjectMember(tx, project.id, params.user_id))) throw noSuch('user')
      await recordAudit(tx, scope.orgId, actorOf(context), userDeleted(params.user_id, project.id, 0))
    })
    return { id: params.user_id, object: 'organization.project.user.deleted', deleted: true } as const
  })
