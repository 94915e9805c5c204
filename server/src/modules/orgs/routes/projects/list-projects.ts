import { listProjects } from '@switchyard/contracts/organization/projects.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { route } from '#platform/http/route.ts'
import { projectView } from '../../domain/project-view.ts'
import { checkCursor } from '../../steps/check-cursor.ts'
import * as store from '../../store/projects.ts'
import type { OrgsUse } from '../../use.ts'

export const listProjectsRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(listProjects, async ({ scope, query }) => {
    const { after, limit, include_archived: includeArchived } = query
    await checkCursor(use.db.kysely, 'orgs.project', scope.orgId, after)
    const rows = await store.listProjects(use.db.kysely, scope.orgId, { after, limit, includeArchived })
    return pageView(rows, limit, projectView)
  })
