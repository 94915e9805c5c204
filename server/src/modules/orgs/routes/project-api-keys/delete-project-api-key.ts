import { deleteProjectApiKey } from '@switchyard/contracts/organization/project-api-keys.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { endKey } from '../../steps/end-key.ts'
import { holdOpenProject } from '../../steps/in-project.ts'
import { keysOfProject } from '../../store/keys.ts'
import type { OrgsUse } from '../../use.ts'

export const deleteProjectApiKeyRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(deleteProjectApiKey, async (context) => {
    const { scope, params } = context
    await use.db.tx(async (tx) => {
      const project = await holdOpenProject(tx, scope.orgId, params.project_id)
      await endKey(tx, actorOf(context), keysOfProject(scope.orgId, project.id), params.key_id)
    })
    return { id: params.key_id, object: 'organization.project.api_key.deleted', deleted: true } as const
  })
