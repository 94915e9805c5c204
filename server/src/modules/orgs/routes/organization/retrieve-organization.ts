import { retrieveOrganization } from '@switchyard/contracts/organization/organization.ts'
import { route } from '#platform/http/route.ts'
import { organizationView } from '../../domain/organization-view.ts'
import { getOrganization } from '../../store/organizations.ts'
import type { OrgsUse } from '../../use.ts'

export const retrieveOrganizationRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(retrieveOrganization, async ({ scope }) => organizationView(await getOrganization(use.db.kysely, scope.orgId)))
