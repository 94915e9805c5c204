import { listWebhookDeliveries, redeliverWebhook, retrieveWebhookDelivery } from '@switchyard/contracts/webhooks.ts'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { readDeliveryId } from '../domain/delivery-id.ts'
import { attemptView, deliveryView } from '../steps/delivery-view.ts'
import { makeDueAgain } from '../store/again.ts'
import { findDelivery, listAttempts, listDeliveries } from '../store/deliveries.ts'
import type { RouteUses } from '../use.ts'
import { getEndpoint, noSuchDelivery } from './faults.ts'

const attemptsShownMax = 100

export const listDeliveriesRoute = (use: RouteUses) =>
  route(listWebhookDeliveries, async ({ scope, params, query }) => {
    const endpoint = await getEndpoint(use, scope.projectId, params.webhook_endpoint_id)
    const after = query.after === undefined ? null : readDeliveryId(query.after)
    if (query.after !== undefined && after?.endpointId !== endpoint.id) {
      throw new Fault('invalid_value', 'No delivery of this endpoint with the id given in after.', { param: 'after' })
    }
    const page = { filter: query.status ?? 'all', afterEventId: after?.eventId ?? null, limit: query.limit } as const
    return pageView(await listDeliveries(use.db, endpoint.id, page), query.limit, deliveryView)
  })

async function getDelivery(use: RouteUses, projectId: ProjectId, id: string) {
  const named = readDeliveryId(id)
  const row = named === null ? null : await findDelivery(use.db, projectId, named)
  if (named === null || row === null) throw noSuchDelivery()
  return { named, row }
}

export const retrieveDeliveryRoute = (use: RouteUses) =>
  route(retrieveWebhookDelivery, async ({ scope, params }) => {
    const { named, row } = await getDelivery(use, scope.projectId, params.delivery_id)
    const attempts = await listAttempts(use.db, named, attemptsShownMax)
    return { ...deliveryView(row), payload: JSON.parse(row.body) as unknown, attempt_log: attempts.map(attemptView) }
  })

/** The same event, the same webhook-id, a new 72 hours. */
export const redeliverRoute = (use: RouteUses) =>
  route(redeliverWebhook, async ({ scope, params }) => {
    const { named } = await getDelivery(use, scope.projectId, params.delivery_id)
    await getEndpoint(use, scope.projectId, named.endpointId)
    await use.db.tx(async (tx) => {
      await makeDueAgain(tx, named)
      tx.afterCommit(use.kick)
    })
    const { row } = await getDelivery(use, scope.projectId, params.delivery_id)
    return deliveryView(row)
  })
