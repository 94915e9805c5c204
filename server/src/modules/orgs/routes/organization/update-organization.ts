import { updateOrganization } from '@switchyard/contracts/organization/organization.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { organizationUpdated } from '../../domain/audit-event.ts'
import { organizationView } from '../../domain/organization-view.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { getOrganization, renameOrganization } from '../../store/organizations.ts'
import type { OrgsUse } from '../../use.ts'

export const updateOrganizationRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(updateOrganization, async (context) => {
    const { orgId } = context.scope
    const { name } = context.body
    if (name === undefined) return organizationView(await getOrganization(use.db.kysely, orgId))
    return await use.db.tx(async (tx) => {
      const organization = await renameOrganization(tx, orgId, name)
      await recordAudit(tx, orgId, actorOf(context), organizationUpdated(orgId, name))
      return organizationView(organization)
    })
  })
