import type { OrgId } from '@switchyard/contracts/ids.ts'
import {
  listProjectRateLimits,
  updateProjectRateLimit,
} from '@switchyard/contracts/organization/project-rate-limits.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { actorOf } from '#modules/orgs/index.ts'
import { own } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { rateLimitEvents } from '../domain/audit-events.ts'
import { limitsOf } from '../domain/limits-book.ts'
import { limitGroups, projectRateLimitView, rateLimitId, readChanges } from '../domain/project-rate-limit.ts'
import { effectiveTier, termsTier } from '../domain/tier-standing.ts'
import type { GroupLimits } from '../domain/tiers.ts'
import { readStanding } from '../steps/read-tier.ts'
import { findProjectLimits, holdProjectLimit, saveProjectLimit } from '../store/project-limits.ts'
import type { LimitsTables } from '../store/tables.ts'
import { checkOpenProject, checkProject } from './check-project.ts'
import type { LimitsRouteUses } from './use.ts'

/** What the organisation has for each group; null where nothing is limited. */
async function organizationLimits(use: LimitsRouteUses, orgId: OrgId): Promise<(group: string) => GroupLimits | null> {
  const tier = termsTier(effectiveTier(await readStanding(use, orgId)))
  return (group) => (tier === null ? null : limitsOf(use.book, tier, group))
}

/** The ids of one page: those after a cursor, or those just before one. */
function pageOfGroups(
  groups: readonly string[],
  query: { after?: string | undefined; before?: string | undefined; limit: number },
): string[] {
  const { after, before, limit } = query
  if (after !== undefined && before !== undefined) {
    throw new Fault('mutually_exclusive_parameters', "Send 'after' or 'before', not both.", { param: 'before' })
  }
  const cursor = after ?? before
  if (cursor === undefined) return groups.slice(0, limit + 1)
  const at = groups.findIndex((group) => rateLimitId(group) === cursor)
  if (at < 0) {
    const param = after === undefined ? 'before' : 'after'
    throw new Fault('invalid_value', `Nothing has the id given in ${param}.`, { param })
  }
  return after === undefined ? groups.slice(Math.max(0, at - limit), at) : groups.slice(at + 1, at + limit + 2)
}

export const listProjectRateLimitsRoute = (use: LimitsRouteUses) =>
  route(listProjectRateLimits, async ({ scope: { orgId }, params: { project_id: projectId }, query }) => {
    await checkProject(use, orgId, projectId)
    const groups = limitGroups(use.book, use.models)
    const shown = pageOfGroups(groups, query)
    const limits = await organizationLimits(use, orgId)
    const set = await findProjectLimits(use.db.kysely, projectId)
    const page = pageView(shown, query.limit, (group) =>
      projectRateLimitView(group, limits(group), set.get(group) ?? {}),
    )
    return query.before === undefined ? page : { ...page, has_more: shown[0] !== groups[0] }
  })

export const updateProjectRateLimitRoute = (use: LimitsRouteUses) =>
  route(updateProjectRateLimit, async (context) => {
    const { orgId } = context.scope
    const { project_id: projectId, rate_limit_id: id } = context.params
    await checkOpenProject(use, orgId, projectId)
    const group = limitGroups(use.book, use.models).find((one) => rateLimitId(one) === id)
    if (group === undefined) throw new Fault('not_found', 'No such rate limit.')
    const organization = (await organizationLimits(use, orgId))(group)
    const read = readChanges(context.body, organization)
    if ('field' in read) throw new Fault('invalid_value', read.why, { param: read.field })
    return await use.db.tx(async (tx) => {
      const before = await holdProjectLimit(tx, projectId, group)
      const after = await saveProjectLimit(own<LimitsTables>(tx), { orgId, projectId, group }, read.changes)
      for (const event of rateLimitEvents({ id, projectId }, context.body, before)) {
        await use.orgs.recordAudit(tx, orgId, actorOf(context), event)
      }
      tx.afterCommit(() => use.changed(orgId))
      return projectRateLimitView(group, organization, after)
    })
  })
