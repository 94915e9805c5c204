import { updateProject } from '@switchyard/contracts/organization/projects.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { projectUpdated } from '../../domain/audit-event.ts'
import { projectView } from '../../domain/project-view.ts'
import { refuseResidency, refuseUnsupported } from '../../domain/unsupported.ts'
import { getProject, projectArchivedFault } from '../../steps/in-project.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { renameProject } from '../../store/projects.ts'
import type { OrgsUse } from '../../use.ts'

export const updateProjectRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(updateProject, async (context) => {
    const { body } = context
    const { orgId } = context.scope
    const id = context.params.project_id
    refuseResidency({ geography: body.geography })
    refuseUnsupported({ external_key_id: body.external_key_id })
    const before = await getProject(use.db.kysely, orgId, id)
    if (before.archived_at !== null) throw projectArchivedFault()
    const { name } = body
    if (typeof name !== 'string') return projectView(before)
    return await use.db.tx(async (tx) => {
      const project = await renameProject(tx, orgId, id, name)
      if (project === null) throw projectArchivedFault()
      await recordAudit(tx, orgId, actorOf(context), projectUpdated(id, name))
      return projectView(project)
    })
  })
