import { deleteAdsApiKey } from '@switchyard/contracts/organization/ads-api-keys.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { endKey } from '../../steps/end-key.ts'
import { adsKeys } from '../../store/keys.ts'
import type { OrgsUse } from '../../use.ts'

export const deleteAdsApiKeyRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(deleteAdsApiKey, async (context) => {
    const { scope, params } = context
    await use.db.tx((tx) => endKey(tx, actorOf(context), adsKeys(scope.orgId), params.key_id))
    return { id: params.key_id, object: 'organization.ads_api_key.deleted', deleted: true } as const
  })
