import type { ServiceAccountId } from '@switchyard/contracts/ids.ts'
import { createServiceAccount } from '@switchyard/contracts/organization/service-accounts.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { actorOf } from '../../domain/actor.ts'
import { serviceAccountCreated } from '../../domain/audit-event.ts'
import { serviceAccountKeyView } from '../../domain/key-view.ts'
import { serviceAccountView } from '../../domain/service-account-view.ts'
import { holdOpenProject } from '../../steps/in-project.ts'
import { mintKey } from '../../steps/mint-key.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { insertServiceAccount } from '../../store/service-accounts.ts'
import type { OrgsUse } from '../../use.ts'

export const firstKeyName = 'Secret Key'

export const createServiceAccountRoute = (use: Pick<OrgsUse, 'cellTag'>) =>
  route(createServiceAccount, async (context) => {
    const { scope, params, body, commit } = context
    const alone = body.create_service_account_only === true
    const lifetimeSeconds = body.expires_in_seconds ?? null
    if (alone && lifetimeSeconds !== null) {
      throw new Fault('mutually_exclusive_parameters', 'An account made without a key has no key that could expire.', {
        param: 'expires_in_seconds',
      })
    }
    return await commit(async (tx) => {
      const project = await holdOpenProject(tx, scope.orgId, params.project_id)
      const account = await insertServiceAccount(tx, {
        id: newId<ServiceAccountId>('svcacct_'),
        org_id: scope.orgId,
        project_id: project.id,
        name: body.name,
        role: alone ? 'none' : 'member',
      })
      await recordAudit(tx, scope.orgId, actorOf(context), serviceAccountCreated(account, project.id))
      if (alone) return { ...serviceAccountView(account), api_key: null }
      const { row, value } = await mintKey(tx, use.cellTag, actorOf(context), {
        kind: 'service_account',
        orgId: scope.orgId,
        projectId: project.id,
        serviceAccountId: account.id,
        name: firstKeyName,
        scopes: null,
        lifetimeSeconds,
      })
      return { ...serviceAccountView(account), api_key: serviceAccountKeyView(row, value) }
    })
  })
