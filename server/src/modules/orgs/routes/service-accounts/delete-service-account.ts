import { deleteServiceAccount } from '@switchyard/contracts/organization/service-accounts.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { serviceAccountDeleted } from '../../domain/audit-event.ts'
import { noSuch } from '../../domain/no-such.ts'
import { holdOpenProject } from '../../steps/in-project.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { revokeKeysOf } from '../../store/keys.ts'
import { endServiceAccount } from '../../store/service-accounts.ts'
import type { OrgsUse } from '../../use.ts'

export const deleteServiceAccountRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(deleteServiceAccount, async (context) => {
    const { scope, params } = context
    const id = params.service_account_id
    await use.db.tx(async (tx) => {
      const project = await holdOpenProject(tx, scope.orgId, params.project_id)
      // The account first: whoever is making a key for it holds it, so all its keys are there to be revoked.
      if (!(await endServiceAccount(tx, project.id, id))) throw noSuch('service account')
      const keysRevoked = await revokeKeysOf(tx, scope.orgId, { serviceAccountId: id })
      await recordAudit(tx, scope.orgId, actorOf(context), serviceAccountDeleted(id, project.id, keysRevoked))
    })
    return { id, object: 'organization.project.service_account.deleted', deleted: true } as const
  })
