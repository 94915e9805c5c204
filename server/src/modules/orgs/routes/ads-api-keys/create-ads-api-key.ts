import { createAdsApiKey } from '@switchyard/contracts/organization/ads-api-keys.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { adsApiKeyView } from '../../domain/key-view.ts'
import { makeAdsKey } from '../../steps/make-ads-key.ts'
import type { OrgsUse } from '../../use.ts'

export const createAdsApiKeyRoute = (use: Pick<OrgsUse, 'cellTag'>) =>
  route(createAdsApiKey, async (context) => {
    const { scope, body, commit } = context
    return await commit(async (tx) => {
      const { row, value } = await makeAdsKey(tx, use.cellTag, actorOf(context), {
        orgId: scope.orgId,
        name: body.name,
        scopes: body.scopes,
        adAccountId: body.ad_account_id,
      })
      return { ...adsApiKeyView(row), value }
    })
  })
