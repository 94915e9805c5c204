import { retireWebhookSecret, rotateWebhookSecret, secretsActiveMax } from '@switchyard/contracts/webhooks.ts'
import { own } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { endpointViewOf } from '../steps/endpoint-view.ts'
import { issueSecret } from '../steps/issue-secret.ts'
import { changeEndpoint, listSecrets, retireSecret, supersedeSecret } from '../store/endpoints.ts'
import type { WebhooksTables } from '../store/tables.ts'
import type { RouteUses } from '../use.ts'
import { getHeldEndpoint } from './faults.ts'

const daySeconds = 86_400

export const rotateSecretRoute = (use: RouteUses) =>
  route(rotateWebhookSecret, async ({ scope, params, body, commit }) => {
    const { keep_old_secret_active_for_24_hours: day, keep_old_secret_active_for_seconds: seconds } = body
    if (day === true && seconds !== undefined) {
      throw new Fault('mutually_exclusive_parameters', 'Give the overlap as 24 hours or in seconds, not both.', {
        param: 'keep_old_secret_active_for_seconds',
      })
    }
    const overlap = seconds ?? (day === true ? daySeconds : 0)
    return await commit(async (tx) => {
      const row = await getHeldEndpoint(tx, scope.projectId, params.webhook_endpoint_id)
      const active = await listSecrets(own<WebhooksTables>(tx), [row.id])
      // Without an overlap the new one takes the place of the old: a leaked secret can always be replaced.
      if (overlap > 0 && active.length >= secretsActiveMax) {
        throw new Fault(
          'invalid_state_transition',
          `At most ${secretsActiveMax} secrets sign at once. Retire an old one first.`,
        )
      }
      await supersedeSecret(tx, row.id, overlap)
      const secret = await issueSecret(use.sealer, tx, row.id)
      const view = await endpointViewOf(own<WebhooksTables>(tx), await changeEndpoint(tx, row.id, {}))
      return { ...view, signing_secret: secret }
    })
  })

export const retireSecretRoute = (use: RouteUses) =>
  route(retireWebhookSecret, async ({ scope, params }) =>
    use.db.tx(async (tx) => {
      const row = await getHeldEndpoint(tx, scope.projectId, params.webhook_endpoint_id)
      const secret = (await listSecrets(own<WebhooksTables>(tx), [row.id])).find(({ id }) => id === params.secret_id)
      if (secret === undefined) throw new Fault('not_found', 'No such signing secret.', { param: 'secret_id' })
      if (secret.active_until === null) {
        throw new Fault('invalid_state_transition', 'The current secret cannot be retired. Rotate first.', {
          param: 'secret_id',
        })
      }
      await retireSecret(tx, row.id, secret.id)
      return await endpointViewOf(own<WebhooksTables>(tx), await changeEndpoint(tx, row.id, {}))
    }),
  )
