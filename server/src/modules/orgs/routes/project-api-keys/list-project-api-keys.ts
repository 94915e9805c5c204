import { listProjectApiKeys } from '@switchyard/contracts/organization/project-api-keys.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { route } from '#platform/http/route.ts'
import { projectApiKeyView } from '../../domain/key-view.ts'
import { checkCursor } from '../../steps/check-cursor.ts'
import { getProject } from '../../steps/in-project.ts'
import { keysOfProject, listKeys } from '../../store/keys.ts'
import type { OrgsUse } from '../../use.ts'

export const listProjectApiKeysRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(listProjectApiKeys, async ({ scope, params, query }) => {
    const { after, limit, owner_project_access: access } = query
    const project = await getProject(use.db.kysely, scope.orgId, params.project_id)
    await checkCursor(use.db.kysely, 'orgs.api_key', scope.orgId, after)
    const rows = await listKeys(use.db.kysely, keysOfProject(scope.orgId, project.id), {
      after,
      limit,
      ownerAccess: access === 'any' ? undefined : access === 'active',
    })
    return pageView(rows, limit, projectApiKeyView)
  })
