import { createProject } from '@switchyard/contracts/organization/projects.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { projectView } from '../../domain/project-view.ts'
import { refuseResidency, refuseUnsupported } from '../../domain/unsupported.ts'
import { makeProject } from '../../steps/make-project.ts'
import type { OrgsUse } from '../../use.ts'

export const createProjectRoute = (use: Pick<OrgsUse, 'cellTag'>) =>
  route(createProject, async (context) => {
    const { scope, body, commit } = context
    refuseResidency({ residency: body.residency, geography: body.geography })
    refuseUnsupported({ external_key_id: body.external_key_id })
    return await commit(async (tx) => {
      return projectView(await makeProject(tx, use.cellTag, actorOf(context), { orgId: scope.orgId, name: body.name }))
    })
  })
