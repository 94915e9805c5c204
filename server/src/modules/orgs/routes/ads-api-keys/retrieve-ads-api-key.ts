import { retrieveAdsApiKey } from '@switchyard/contracts/organization/ads-api-keys.ts'
import { route } from '#platform/http/route.ts'
import { adsApiKeyView } from '../../domain/key-view.ts'
import { noSuch } from '../../domain/no-such.ts'
import { adsKeys, findKey } from '../../store/keys.ts'
import type { OrgsUse } from '../../use.ts'

export const retrieveAdsApiKeyRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(retrieveAdsApiKey, async ({ scope, params }) => {
    const key = await findKey(use.db.kysely, adsKeys(scope.orgId), params.key_id)
    if (key === null) throw noSuch('API key')
    return adsApiKeyView(key)
  })
