import { retrieveProjectApiKey } from '@switchyard/contracts/organization/project-api-keys.ts'
import { route } from '#platform/http/route.ts'
import { projectApiKeyView } from '../../domain/key-view.ts'
import { noSuch } from '../../domain/no-such.ts'
import { getProject } from '../../steps/in-project.ts'
import { findKey, keysOfProject } from '../../store/keys.ts'
import type { OrgsUse } from '../../use.ts'

export const retrieveProjectApiKeyRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(retrieveProjectApiKey, async ({ scope, params }) => {
    const project = await getProject(use.db.kysely, scope.orgId, params.project_id)
    const key = await findKey(use.db.kysely, keysOfProject(scope.orgId, project.id), params.key_id)
    if (key === null) throw noSuch('API key')
    return projectApiKeyView(key)
  })
