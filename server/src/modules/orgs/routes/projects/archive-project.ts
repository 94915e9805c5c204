import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { projectArchived } from '../../domain/audit-event.ts'
import { projectView } from '../../domain/project-view.ts'
import { getProject } from '../../steps/in-project.ts'
import { recordAudit } from '../../store/audit-log.ts'
import * as store from '../../store/projects.ts'
import type { OrgsUse } from '../../use.ts'

/** Archiving twice gives the same answer. */
export const archiveProjectRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(archiveProject, async (context) => {
    const { orgId } = context.scope
    const id = context.params.project_id
    const archived = await use.db.tx(async (tx) => {
      const project = await store.archiveProject(tx, orgId, id)
      if (project !== null) await recordAudit(tx, orgId, actorOf(context), projectArchived(id))
      return project
    })
    return projectView(archived ?? (await getProject(use.db.kysely, orgId, id)))
  })
