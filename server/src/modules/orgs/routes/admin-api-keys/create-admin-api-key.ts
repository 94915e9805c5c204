import { createAdminApiKey } from '@switchyard/contracts/organization/admin-api-keys.ts'
import { own } from '#platform/db/tx.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { adminApiKeyView } from '../../domain/key-view.ts'
import { storedScopes } from '../../domain/scopes.ts'
import { mintKey } from '../../steps/mint-key.ts'
import { refuseWider } from '../../steps/refuse-wider.ts'
import { getKeyOwner } from '../../store/keys.ts'
import type { OrgsTables } from '../../store/tables.ts'
import type { OrgsUse } from '../../use.ts'

export const createAdminApiKeyRoute = (use: Pick<OrgsUse, 'cellTag' | 'scopes'>) =>
  route(createAdminApiKey, async (context) => {
    const { scope, body, commit } = context
    use.scopes.check('admin_key', body.scopes ?? [])
    const scopes = storedScopes(body.scopes)
    return await commit(async (tx) => {
      const caller = await getKeyOwner(own<OrgsTables>(tx), scope.keyId)
      refuseWider(use.scopes, caller.scopes, scopes)
      const { row, value } = await mintKey(tx, use.cellTag, actorOf(context), {
        kind: 'admin',
        orgId: scope.orgId,
        userId: caller.user_id,
        name: body.name,
        scopes,
        lifetimeSeconds: body.expires_in_seconds ?? null,
      })
      return { ...adminApiKeyView(row), value }
    })
  })
