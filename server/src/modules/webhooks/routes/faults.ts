import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { findEndpoint, holdEndpoint, type EndpointRow } from '../store/endpoints.ts'
import type { RouteUses } from '../use.ts'

export const noSuchEndpoint = () =>
  new Fault('not_found', 'No such webhook endpoint.', { param: 'webhook_endpoint_id' })
export const noSuchDelivery = () => new Fault('not_found', 'No such webhook delivery.', { param: 'delivery_id' })

export async function getEndpoint(use: Pick<RouteUses, 'db'>, projectId: ProjectId, id: string): Promise<EndpointRow> {
  const row = await findEndpoint(use.db, projectId, id)
  if (row === null) throw noSuchEndpoint()
  return row
}

/** The same inside a transaction that is about to change it. */
export async function getHeldEndpoint(tx: Tx, projectId: ProjectId, id: string): Promise<EndpointRow> {
  const row = await holdEndpoint(tx, projectId, id)
  if (row === null) throw noSuchEndpoint()
  return row
}
