import { listAdminApiKeys } from '@switchyard/contracts/organization/admin-api-keys.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { route } from '#platform/http/route.ts'
import { adminApiKeyView } from '../../domain/key-view.ts'
import { checkCursor } from '../../steps/check-cursor.ts'
import { adminKeys, listKeys } from '../../store/keys.ts'
import type { OrgsUse } from '../../use.ts'

export const listAdminApiKeysRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(listAdminApiKeys, async ({ scope, query }) => {
    await checkCursor(use.db.kysely, 'orgs.api_key', scope.orgId, query.after)
    const rows = await listKeys(use.db.kysely, adminKeys(scope.orgId), query)
    return pageView(rows, query.limit, adminApiKeyView)
  })
