import type { WebhookEndpointId } from '@switchyard/contracts/ids.ts'
import { createWebhookEndpoint } from '@switchyard/contracts/webhooks.ts'
import { own } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { checkTargetUrl } from '../steps/target-url.ts'
import { endpointViewOf } from '../steps/endpoint-view.ts'
import { issueSecret } from '../steps/issue-secret.ts'
import { countEndpoints, insertEndpoint } from '../store/endpoints.ts'
import type { WebhooksTables } from '../store/tables.ts'
import type { RouteUses } from '../use.ts'

const endpointsMax = 100

export const createEndpointRoute = (use: RouteUses) =>
  route(createWebhookEndpoint, async ({ scope, body, commit }) => {
    const url = checkTargetUrl(body.url, use.targets)
    return await commit(async (tx) => {
      if ((await countEndpoints(tx, scope.projectId)) >= endpointsMax) {
        throw new Fault('invalid_state_transition', `A project has at most ${endpointsMax} webhook endpoints.`)
      }
      const row = await insertEndpoint(tx, {
        id: newId<WebhookEndpointId>('whe_'),
        projectId: scope.projectId,
        name: body.name,
        url,
        eventTypes: body.event_types,
      })
      const secret = await issueSecret(use.sealer, tx, row.id)
      return { ...(await endpointViewOf(own<WebhooksTables>(tx), row)), signing_secret: secret }
    })
  })
