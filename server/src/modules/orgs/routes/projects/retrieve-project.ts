import { retrieveProject } from '@switchyard/contracts/organization/projects.ts'
import { route } from '#platform/http/route.ts'
import { projectView } from '../../domain/project-view.ts'
import { getProject } from '../../steps/in-project.ts'
import type { OrgsUse } from '../../use.ts'

export const retrieveProjectRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(retrieveProject, async ({ scope, params }) =>
    projectView(await getProject(use.db.kysely, scope.orgId, params.project_id)),
  )
