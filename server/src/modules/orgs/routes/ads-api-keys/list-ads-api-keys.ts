import { listAdsApiKeys } from '@switchyard/contracts/organization/ads-api-keys.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { route } from '#platform/http/route.ts'
import { adsApiKeyView } from '../../domain/key-view.ts'
import { checkCursor } from '../../steps/check-cursor.ts'
import { adsKeys, listKeys } from '../../store/keys.ts'
import type { OrgsUse } from '../../use.ts'

export const listAdsApiKeysRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(listAdsApiKeys, async ({ scope, query }) => {
    await checkCursor(use.db.kysely, 'orgs.api_key', scope.orgId, query.after)
    const rows = await listKeys(use.db.kysely, adsKeys(scope.orgId), query)
    return pageView(rows, query.limit, adsApiKeyView)
  })
