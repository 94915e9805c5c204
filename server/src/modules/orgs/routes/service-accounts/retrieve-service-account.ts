import { retrieveServiceAccount } from '@switchyard/contracts/organization/service-accounts.ts'
import { route } from '#platform/http/route.ts'
import { noSuch } from '../../domain/no-such.ts'
import { serviceAccountView } from '../../domain/service-account-view.ts'
import { getProject } from '../../steps/in-project.ts'
import { findServiceAccount } from '../../store/service-accounts.ts'
import type { OrgsUse } from '../../use.ts'

export const retrieveServiceAccountRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(retrieveServiceAccount, async ({ scope, params }) => {
    const project = await getProject(use.db.kysely, scope.orgId, params.project_id)
    const account = await findServiceAccount(use.db.kysely, project.id, params.service_account_id)
    if (account === null) throw noSuch('service account')
    return serviceAccountView(account)
  })
