import {
  createContainer,
  deleteContainer,
  expiryMinutesDefault,
  listContainers,
  listEgressReceipts,
  retrieveContainer,
  type EgressReceipt,
} from '@switchyard/contracts/containers.ts'
import type { ContainerId } from '@switchyard/contracts/ids.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { containerView } from '../domain/container-view.ts'
import { clearHost } from '../steps/clear-host.ts'
import { discard, provision, type ProvisionUses } from '../steps/provision.ts'
import * as store from '../store/containers.ts'
import { isReceiptCursor, listReceipts, type ReceiptRow } from '../store/receipts.ts'
import { noSuchContainer } from '../domain/faults.ts'

export interface ContainerRouteUses extends ProvisionUses {
  readonly activeMax: number
}

export const createContainerRoute = (use: ContainerRouteUses) =>
  route(createContainer, async ({ scope, body, commit }) => {
    const made = await provision(use, {
      projectId: scope.projectId,
      orgId: scope.orgId,
      name: body.name,
      status: 'active',
      responseId: null,
      memoryLimit: body.memory_limit ?? '1g',
      expiresMinutes: body.expires_after?.minutes ?? expiryMinutesDefault,
      policy: body.network_policy,
      skills: body.skills ?? [],
      fileIds: body.file_ids ?? [],
      messageFiles: [],
      param: '',
    })
    try {
      return await commit(async (tx) => {
        if ((await store.countActive(tx, scope.projectId)) >= use.activeMax) {
          throw new Fault('container_limit_exceeded', `A project has at most ${use.activeMax} active containers.`)
        }
        return containerView(await store.insertContainer(tx, made))
      })
    } catch (error) {
      await discard(use, made)
      throw error
    }
  })

export const listContainersRoute = (use: Pick<ContainerRouteUses, 'db'>) =>
  route(listContainers, async ({ scope, query }) => {
    if (query.after !== undefined && !(await store.isContainerCursor(use.db, scope.projectId, query.after))) {
      throw new Fault('invalid_value', 'No container with the id given in after.', { param: 'after' })
    }
    const rows = await store.listContainers(use.db, scope.projectId, {
      after: query.after,
      limit: query.limit,
      order: query.order,
      name: query.name,
    })
    return pageView(rows, query.limit, containerView)
  })

export const retrieveContainerRoute = (use: Pick<ContainerRouteUses, 'db'>) =>
  route(retrieveContainer, async ({ scope, params }) => {
    const row = await store.findContainer(use.db, scope.projectId, params.container_id)
    if (row === null) throw noSuchContainer(params.container_id)
    return containerView(row)
  })

export const deleteContainerRoute = (use: ContainerRouteUses) =>
  route(deleteContainer, async ({ scope, params }) => {
    const id = params.container_id
    const row = await use.db.tx((tx) => store.deleteContainer(tx, scope.projectId, id))
    if (row === null) throw noSuchContainer(id)
    if (row.host_id !== null) await clearHost(use, row.host_id)
    return { id, object: 'container.deleted' as const, deleted: true as const, status: 'deleted' as const }
  })

export const listEgressReceiptsRoute = (use: Pick<ContainerRouteUses, 'db'>) =>
  route(listEgressReceipts, async ({ scope, params, query }) => {
    const id = params.container_id
    if ((await store.findContainer(use.db, scope.projectId, id)) === null) throw noSuchContainer(id)
    if (query.after !== undefined && !(await isReceiptCursor(use.db, id, query.after))) {
      throw new Fault('invalid_value', 'No receipt with the id given in after.', { param: 'after' })
    }
    const page = { after: query.after, limit: query.limit, order: query.order }
    return pageView(await listReceipts(use.db, id, page), query.limit, receiptView)
  })

const receiptView = (row: ReceiptRow): EgressReceipt => ({
  id: row.id,
  object: 'container.egress_receipt',
  container_id: row.container_id as ContainerId,
  created_at: Math.floor(row.at.getTime() / 1_000),
  host: row.host,
  port: row.port,
  verdict: row.verdict as EgressReceipt['verdict'],
  reason: row.reason,
  bytes_in: row.bytes_in,
  bytes_out: row.bytes_out,
})
