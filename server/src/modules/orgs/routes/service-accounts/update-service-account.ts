import { updateServiceAccount } from '@switchyard/contracts/organization/service-accounts.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { serviceAccountUpdated } from '../../domain/audit-event.ts'
import { noSuch } from '../../domain/no-such.ts'
import { serviceAccountView } from '../../domain/service-account-view.ts'
import { holdOpenProject } from '../../steps/in-project.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { changeServiceAccount, holdServiceAccount } from '../../store/service-accounts.ts'
import type { OrgsUse } from '../../use.ts'

export const updateServiceAccountRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(updateServiceAccount, async (context) => {
    const { scope, params, body } = context
    const id = params.service_account_id
    const change = {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.role === undefined ? {} : { role: body.role }),
    }
    const nothing = Object.keys(change).length === 0
    return await use.db.tx(async (tx) => {
      const project = await holdOpenProject(tx, scope.orgId, params.project_id)
      const account = nothing
        ? await holdServiceAccount(tx, project.id, id)
        : await changeServiceAccount(tx, project.id, id, change)
      if (account === null) throw noSuch('service account')
      if (!nothing) {
        await recordAudit(tx, scope.orgId, actorOf(context), serviceAccountUpdated(id, project.id, change))
      }
      return serviceAccountView(account)
    })
  })
