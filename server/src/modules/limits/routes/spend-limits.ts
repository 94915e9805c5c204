import {
  deleteProjectSpendLimit,
  deleteSpendLimit,
  retrieveProjectSpendLimit,
  retrieveSpendLimit,
  updateProjectSpendLimit,
  updateSpendLimit,
} from '@switchyard/contracts/organization/spend-limits.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route, type Route } from '#platform/http/route.ts'
import { readSpent } from '../steps/read-spent.ts'
import * as store from '../store/spend-limits.ts'
import { checkOpenProject, checkProject } from './check-project.ts'
import type { LimitsRouteUses } from './use.ts'

const nanosPerCent = 10_000_000
const noLimit = () => new Fault('not_found', 'No spend limit is set.')

async function facts(use: LimitsRouteUses, place: store.SpendPlace) {
  const threshold = await store.findSpendLimit(use.db.kysely, place)
  if (threshold === null) throw noLimit()
  const spent = await readSpent(use, place.orgId, place.projectId)
  const status = spent >= threshold * nanosPerCent ? 'enforcing' : 'inactive'
  return {
    threshold_amount: threshold,
    currency: 'USD',
    interval: 'month',
    enforcement: { status },
  } as const
}

async function save(use: LimitsRouteUses, place: store.SpendPlace, thresholdCents: number): Promise<void> {
  await store.saveSpendLimit(use.db.kysely, place, thresholdCents)
  use.changed(place.orgId)
}

async function remove(use: LimitsRouteUses, place: store.SpendPlace): Promise<void> {
  if (!(await store.deleteSpendLimit(use.db.kysely, place))) throw noLimit()
  use.changed(place.orgId)
}

export const organizationSpendLimitRoutes = (use: LimitsRouteUses): Route[] => [
  route(retrieveSpendLimit, async ({ scope: { orgId } }) => ({
    object: 'organization.spend_limit' as const,
    ...(await facts(use, { orgId, projectId: null })),
  })),
  route(updateSpendLimit, async ({ scope: { orgId }, body }) => {
    const place = { orgId, projectId: null }
    await save(use, place, body.threshold_amount)
    return { object: 'organization.spend_limit' as const, ...(await facts(use, place)) }
  }),
  route(deleteSpendLimit, async ({ scope: { orgId } }) => {
    await remove(use, { orgId, projectId: null })
    return { object: 'organization.spend_limit.deleted' as const, deleted: true as const }
  }),
]

export const projectSpendLimitRoutes = (use: LimitsRouteUses): Route[] => [
  route(retrieveProjectSpendLimit, async ({ scope: { orgId }, params: { project_id: projectId } }) => {
    await checkProject(use, orgId, projectId)
    return { object: 'project.spend_limit' as const, ...(await facts(use, { orgId, projectId })) }
  }),
  route(updateProjectSpendLimit, async ({ scope: { orgId }, params: { project_id: projectId }, body }) => {
    await checkOpenProject(use, orgId, projectId)
    const place = { orgId, projectId }
    await save(use, place, body.threshold_amount)
    return { object: 'project.spend_limit' as const, ...(await facts(use, place)) }
  }),
  route(deleteProjectSpendLimit, async ({ scope: { orgId }, params: { project_id: projectId } }) => {
    await checkProject(use, orgId, projectId)
    await remove(use, { orgId, projectId })
    return { object: 'project.spend_limit.deleted' as const, deleted: true as const }
  }),
]
