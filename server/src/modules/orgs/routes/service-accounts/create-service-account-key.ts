import { createServiceAccountKey } from '@switchyard/contracts/organization/service-accounts.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { serviceAccountKeyView } from '../../domain/key-view.ts'
import { noSuch } from '../../domain/no-such.ts'
import { storedScopes } from '../../domain/scopes.ts'
import { holdOpenProject } from '../../steps/in-project.ts'
import { mintKey } from '../../steps/mint-key.ts'
import { holdServiceAccount } from '../../store/service-accounts.ts'
import type { OrgsUse } from '../../use.ts'
import { firstKeyName } from './create-service-account.ts'

export const createServiceAccountKeyRoute = (use: Pick<OrgsUse, 'cellTag' | 'scopes'>) =>
  route(createServiceAccountKey, async (context) => {
    const { scope, params, body, commit } = context
    use.scopes.check('project_key', body.scopes ?? [])
    return await commit(async (tx) => {
      const project = await holdOpenProject(tx, scope.orgId, params.project_id)
      const account = await holdServiceAccount(tx, project.id, params.service_account_id)
      if (account === null) throw noSuch('service account')
      const { row, value } = await mintKey(tx, use.cellTag, actorOf(context), {
        kind: 'service_account',
        orgId: scope.orgId,
        projectId: project.id,
        serviceAccountId: account.id,
        name: body.name ?? firstKeyName,
        scopes: storedScopes(body.scopes),
        lifetimeSeconds: body.expires_in_seconds ?? null,
      })
      return serviceAccountKeyView(row, value)
    })
  })
