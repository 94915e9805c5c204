import { rotateAdminApiKey } from '@switchyard/contracts/organization/admin-api-keys.ts'
import { own } from '#platform/db/tx.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { adminApiKeyView, replacedKeyView } from '../../domain/key-view.ts'
import { refuseWider } from '../../steps/refuse-wider.ts'
import { rotateKey } from '../../steps/rotate-key.ts'
import { adminKeys, getKeyOwner } from '../../store/keys.ts'
import { lockOrganization } from '../../store/organizations.ts'
import type { OrgsTables } from '../../store/tables.ts'
import type { OrgsUse } from '../../use.ts'

export const rotateAdminApiKeyRoute = (use: Pick<OrgsUse, 'cellTag' | 'scopes'>) =>
  route(rotateAdminApiKey, async (context) => {
    const { scope, params, body, commit } = context
    return await commit(async (tx) => {
      await lockOrganization(tx, scope.orgId)
      const caller = await getKeyOwner(own<OrgsTables>(tx), scope.keyId)
      const { row, value, replaces } = await rotateKey(tx, use.cellTag, actorOf(context), {
        place: adminKeys(scope.orgId),
        id: params.key_id,
        overlapSeconds: body.overlap_seconds,
        check: (old) => refuseWider(use.scopes, caller.scopes, old.scopes),
      })
      return { ...adminApiKeyView(row), value, replaces: replacedKeyView(replaces) }
    })
  })
