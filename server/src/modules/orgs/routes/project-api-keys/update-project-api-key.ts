import { updateProjectApiKey } from '@switchyard/contracts/organization/project-api-keys.ts'
import { own } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { keyUpdated } from '../../domain/audit-event.ts'
import { projectApiKeyView } from '../../domain/key-view.ts'
import { noSuch } from '../../domain/no-such.ts'
import { storedScopes } from '../../domain/scopes.ts'
import { holdOpenProject } from '../../steps/in-project.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { changeKey, findKey, keysOfProject } from '../../store/keys.ts'
import type { OrgsTables } from '../../store/tables.ts'
import type { OrgsUse } from '../../use.ts'

export const updateProjectApiKeyRoute = (use: Pick<OrgsUse, 'db' | 'scopes'>) =>
  route(updateProjectApiKey, async (context) => {
    const { scope, params, body } = context
    const { scopes, expires_in_seconds: lifetimeSeconds } = body
    if (scopes === undefined && lifetimeSeconds === undefined) {
      throw new Fault('missing_required_parameter', "Send 'scopes' or 'expires_in_seconds'.", { param: 'scopes' })
    }
    use.scopes.check('project_key', scopes ?? [])
    return await use.db.tx(async (tx) => {
      const project = await holdOpenProject(tx, scope.orgId, params.project_id)
      const place = keysOfProject(scope.orgId, project.id)
      const changed = await changeKey(tx, place, params.key_id, {
        scopes: scopes === undefined ? undefined : storedScopes(scopes),
        lifetimeSeconds,
      })
      const key = await findKey(own<OrgsTables>(tx), place, params.key_id)
      if (key === null) throw noSuch('API key')
      if (!changed) throw new Fault('invalid_state_transition', 'The key has expired.')
      await recordAudit(tx, scope.orgId, actorOf(context), keyUpdated(key, body))
      return projectApiKeyView(key)
    })
  })
