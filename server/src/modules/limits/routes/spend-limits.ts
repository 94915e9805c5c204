import {
  deleteProjectSpendLimit,
  deleteSpendLimit,
  retrieveProjectSpendLimit,
  retrieveSpendLimit,
  updateProjectSpendLimit,
  updateSpendLimit,
} from '@switchyard/contracts/organization/spend-limits.ts'
import { actorOf, type Actor } from '#modules/orgs/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route, type Route } from '#platform/http/route.ts'
import { spendLimitDeleted, spendLimitSaved } from '../domain/audit-events.ts'
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

async function save(
  use: LimitsRouteUses,
  place: store.SpendPlace,
  actor: Actor,
  thresholdCents: number,
): Promise<void> {
  await use.db.tx(async (tx) => {
    const created = await store.saveSpendLimit(tx, place, thresholdCents)
    await use.orgs.recordAudit(tx, place.orgId, actor, spendLimitSaved(place, thresholdCents, created))
  })
  use.changed(place.orgId)
}

async function remove(use: LimitsRouteUses, place: store.SpendPlace, actor: Actor): Promise<void> {
  await use.db.tx(async (tx) => {
    if (!(await store.deleteSpendLimit(tx, place))) throw noLimit()
    await use.orgs.recordAudit(tx, place.orgId, actor, spendLimitDeleted(place))
  })
  use.changed(place.orgId)
}

export const organizationSpendLimitRoutes = (use: LimitsRouteUses): Route[] => [
  route(retrieveSpendLimit, async ({ scope: { orgId } }) => ({
    object: 'organization.spend_limit' as const,
    ...(await facts(use, { orgId, projectId: null })),
  })),
  route(updateSpendLimit, async (context) => {
    const place = { orgId: context.scope.orgId, projectId: null }
    await save(use, place, actorOf(context), context.body.threshold_amount)
    return { object: 'organization.spend_limit' as const, ...(await facts(use, place)) }
  }),
  route(deleteSpendLimit, async (context) => {
    await remove(use, { orgId: context.scope.orgId, projectId: null }, actorOf(context))
    return { object: 'organization.spend_limit.deleted' as const, deleted: true as const }
  }),
]

export const projectSpendLimitRoutes = (use: LimitsRouteUses): Route[] => [
  route(retrieveProjectSpendLimit, async ({ scope: { orgId }, params: { project_id: projectId } }) => {
    await checkProject(use, orgId, projectId)
    return { object: 'project.spend_limit' as const, ...(await facts(use, { orgId, projectId })) }
  }),
  route(updateProjectSpendLimit, async (context) => {
    const place = { orgId: context.scope.orgId, projectId: context.params.project_id }
    await checkOpenProject(use, place.orgId, place.projectId)
    await save(use, place, actorOf(context), context.body.threshold_amount)
    return { object: 'project.spend_limit' as const, ...(await facts(use, place)) }
  }),
  route(deleteProjectSpendLimit, async (context) => {
    const place = { orgId: context.scope.orgId, projectId: context.params.project_id }
    await checkProject(use, place.orgId, place.projectId)
    await remove(use, place, actorOf(context))
    return { object: 'project.spend_limit.deleted' as const, deleted: true as const }
  }),
]
