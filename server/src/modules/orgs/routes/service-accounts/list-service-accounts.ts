import { listServiceAccounts } from '@switchyard/contracts/organization/service-accounts.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { route } from '#platform/http/route.ts'
import { serviceAccountView } from '../../domain/service-account-view.ts'
import { checkCursor } from '../../steps/check-cursor.ts'
import { getProject } from '../../steps/in-project.ts'
import * as store from '../../store/service-accounts.ts'
import type { OrgsUse } from '../../use.ts'

export const listServiceAccountsRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(listServiceAccounts, async ({ scope, params, query }) => {
    const project = await getProject(use.db.kysely, scope.orgId, params.project_id)
    await checkCursor(use.db.kysely, 'orgs.service_account', scope.orgId, query.after)
    const rows = await store.listServiceAccounts(use.db.kysely, project.id, query)
    return pageView(rows, query.limit, serviceAccountView)
  })
