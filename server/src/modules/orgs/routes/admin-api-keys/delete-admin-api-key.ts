import { deleteAdminApiKey } from '@switchyard/contracts/organization/admin-api-keys.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { endKey } from '../../steps/end-key.ts'
import { keepAnAdminKey } from '../../steps/keep-in-charge.ts'
import { adminKeys } from '../../store/keys.ts'
import { lockOrganization } from '../../store/organizations.ts'
import type { OrgsUse } from '../../use.ts'

export const deleteAdminApiKeyRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(deleteAdminApiKey, async (context) => {
    const { orgId } = context.scope
    const id = context.params.key_id
    await use.db.tx(async (tx) => {
      await lockOrganization(tx, orgId)
      await endKey(tx, actorOf(context), adminKeys(orgId), id)
      await keepAnAdminKey(tx, orgId)
    })
    return { id, object: 'organization.admin_api_key.deleted', deleted: true } as const
  })
