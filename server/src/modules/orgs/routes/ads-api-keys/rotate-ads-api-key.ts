import { rotateAdsApiKey } from '@switchyard/contracts/organization/ads-api-keys.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { adsApiKeyView, replacedKeyView } from '../../domain/key-view.ts'
import { rotateKey } from '../../steps/rotate-key.ts'
import { adsKeys } from '../../store/keys.ts'
import type { OrgsUse } from '../../use.ts'

export const rotateAdsApiKeyRoute = (use: Pick<OrgsUse, 'cellTag'>) =>
  route(rotateAdsApiKey, async (context) => {
    const { scope, params, body, commit } = context
    return await commit(async (tx) => {
      const { row, value, replaces } = await rotateKey(tx, use.cellTag, actorOf(context), {
        place: adsKeys(scope.orgId),
        id: params.key_id,
        overlapSeconds: body.overlap_seconds,
      })
      return { ...adsApiKeyView(row), value, replaces: replacedKeyView(replaces) }
    })
  })
