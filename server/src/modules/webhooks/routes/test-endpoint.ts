import { testWebhookEndpoint } from '@switchyard/contracts/webhooks.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { sampleData } from '../domain/sample-events.ts'
import { openTarget } from '../dispatch/target.ts'
import { send } from '../dispatch/send.ts'
import { eventOf } from '../steps/publish.ts'
import { findTarget } from '../store/lanes.ts'
import type { RouteUses } from '../use.ts'
import { getEndpoint, noSuchEndpoint } from './faults.ts'

/** A sample event goes out at once, signed as a real one, whatever the endpoint subscribed to and whether or not it is paused. */
export const testEndpointRoute = (use: RouteUses) =>
  route(testWebhookEndpoint, async ({ scope, params, body }) => {
    const endpoint = await getEndpoint(use, scope.projectId, params.webhook_endpoint_id)
    const row = await findTarget(use.db, endpoint.id)
    if (row === null) throw noSuchEndpoint()
    const event = eventOf(body.event_type, sampleData(body.event_type, endpoint.id), use.now())
    const sent = await send(
      use.outbound,
      openTarget(row, use.sealer),
      { id: event.id, body: JSON.stringify(event) },
      use.now(),
    )
    if (sent.statusCode === null) {
      throw new Fault('webhook_test_failed', `The endpoint could not be reached: ${sent.outcome}.`, { param: 'url' })
    }
    return {
      object: 'webhook_endpoint.test',
      webhook_endpoint_id: params.webhook_endpoint_id,
      event_type: body.event_type,
      status_code: sent.statusCode,
      success: sent.delivered,
    } as const
  })
