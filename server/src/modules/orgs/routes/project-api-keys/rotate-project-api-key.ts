import { rotateProjectApiKey } from '@switchyard/contracts/organization/project-api-keys.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { projectApiKeyView, replacedKeyView } from '../../domain/key-view.ts'
import { holdOpenProject } from '../../steps/in-project.ts'
import { rotateKey } from '../../steps/rotate-key.ts'
import { keysOfProject } from '../../store/keys.ts'
import type { OrgsUse } from '../../use.ts'

export const rotateProjectApiKeyRoute = (use: Pick<OrgsUse, 'cellTag'>) =>
  route(rotateProjectApiKey, async (context) => {
    const { scope, params, body, commit } = context
    return await commit(async (tx) => {
      const project = await holdOpenProject(tx, scope.orgId, params.project_id)
      const { row, value, replaces } = await rotateKey(tx, use.cellTag, actorOf(context), {
        place: keysOfProject(scope.orgId, project.id),
        id: params.key_id,
        overlapSeconds: body.overlap_seconds,
      })
      return { ...projectApiKeyView(row), value, replaces: replacedKeyView(replaces) }
    })
  })
