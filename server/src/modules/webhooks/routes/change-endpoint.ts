import {
  deleteWebhookEndpoint,
  pauseWebhookEndpoint,
  resumeWebhookEndpoint,
  updateWebhookEndpoint,
  type WebhookEndpoint,
} from '@switchyard/contracts/webhooks.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { route } from '#platform/http/route.ts'
import { checkTargetUrl } from '../steps/target-url.ts'
import { endpointViewOf } from '../steps/endpoint-view.ts'
import { changeEndpoint, deleteEndpoint, type EndpointChange, type EndpointRow } from '../store/endpoints.ts'
import type { WebhooksTables } from '../store/tables.ts'
import type { RouteUses } from '../use.ts'
import { getHeldEndpoint, noSuchEndpoint } from './faults.ts'

async function viewIn(tx: Tx, row: EndpointRow): Promise<WebhookEndpoint> {
  return await endpointViewOf(own<WebhooksTables>(tx), row)
}

/** Leaves out what is the same already: `updated_at` moves only when something does. */
function realChange(row: EndpointRow, wanted: EndpointChange): EndpointChange {
  const differs = ([name, value]: [string, unknown]) =>
    value !== undefined && JSON.stringify(row[name as keyof EndpointRow]) !== JSON.stringify(value)
  return Object.fromEntries(Object.entries(wanted).filter(differs))
}

export const updateEndpointRoute = (use: RouteUses) =>
  route(updateWebhookEndpoint, async ({ scope, params, body }) => {
    const url = body.url === undefined ? undefined : checkTargetUrl(body.url, use.targets)
    const wanted = { name: body.name, url, event_types: body.event_types && [...new Set(body.event_types)] }
    return await use.db.tx(async (tx) => {
      const row = await getHeldEndpoint(tx, scope.projectId, params.webhook_endpoint_id)
      const change = realChange(row, wanted)
      return await viewIn(tx, Object.keys(change).length === 0 ? row : await changeEndpoint(tx, row.id, change))
    })
  })

export const deleteEndpointRoute = (use: RouteUses) =>
  route(deleteWebhookEndpoint, async ({ scope, params }) => {
    const deleted = await use.db.tx((tx) => deleteEndpoint(tx, scope.projectId, params.webhook_endpoint_id))
    if (!deleted) throw noSuchEndpoint()
    return { id: params.webhook_endpoint_id, object: 'webhook_endpoint.deleted', deleted: true } as const
  })

export const pauseEndpointRoute = (use: RouteUses) =>
  route(pauseWebhookEndpoint, async ({ scope, params }) =>
    use.db.tx(async (tx) => {
      const row = await getHeldEndpoint(tx, scope.projectId, params.webhook_endpoint_id)
      return await viewIn(tx, row.status === 'active' ? await changeEndpoint(tx, row.id, { status: 'paused' }) : row)
    }),
  )

/** The way back from a pause, and from having been disabled: the row of failures starts anew. */
export const resumeEndpointRoute = (use: RouteUses) =>
  route(resumeWebhookEndpoint, async ({ scope, params }) =>
    use.db.tx(async (tx) => {
      const row = await getHeldEndpoint(tx, scope.projectId, params.webhook_endpoint_id)
      tx.afterCommit(use.kick)
      const change = { status: 'active', disabled_reason: null, failing_since: null } as const
      return await viewIn(tx, row.status === 'active' ? row : await changeEndpoint(tx, row.id, change))
    }),
  )
