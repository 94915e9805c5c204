import { listWebhookEndpoints, listWebhookEventTypes, retrieveWebhookEndpoint } from '@switchyard/contracts/webhooks.ts'
import { webhookEventTypes } from '@switchyard/contracts/webhook-events.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { endpointViewOf, endpointViews } from '../steps/endpoint-view.ts'
import { isEndpointCursor, listEndpoints } from '../store/endpoints.ts'
import type { RouteUses } from '../use.ts'
import { getEndpoint } from './faults.ts'

export const listEndpointsRoute = (use: RouteUses) =>
  route(listWebhookEndpoints, async ({ scope, query }) => {
    if (query.after !== undefined && !(await isEndpointCursor(use.db, scope.projectId, query.after))) {
      throw new Fault('invalid_value', 'No webhook endpoint with the id given in after.', { param: 'after' })
    }
    const rows = await listEndpoints(use.db, scope.projectId, { after: query.after, limit: query.limit })
    const views = await endpointViews(use.db.kysely, rows)
    return pageView(views, query.limit, (view) => view)
  })

export const retrieveEndpointRoute = (use: RouteUses) =>
  route(retrieveWebhookEndpoint, async ({ scope, params }) =>
    endpointViewOf(use.db.kysely, await getEndpoint(use, scope.projectId, params.webhook_endpoint_id)),
  )

export const listEventTypesRoute = () =>
  route(listWebhookEventTypes, async () => ({ object: 'list' as const, data: [...webhookEventTypes] }))
