import { retrieveAdminApiKey } from '@switchyard/contracts/organization/admin-api-keys.ts'
import { route } from '#platform/http/route.ts'
import { adminApiKeyView } from '../../domain/key-view.ts'
import { noSuch } from '../../domain/no-such.ts'
import { adminKeys, findKey } from '../../store/keys.ts'
import type { OrgsUse } from '../../use.ts'

export const retrieveAdminApiKeyRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(retrieveAdminApiKey, async ({ scope, params }) => {
    const key = await findKey(use.db.kysely, adminKeys(scope.orgId), params.key_id)
    if (key === null) throw noSuch('API key')
    return adminApiKeyView(key)
  })
