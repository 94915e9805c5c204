import { retrieveCosts } from '@switchyard/contracts/organization/costs.ts'
import { retrieveCompletionsUsage, usageOperations } from '@switchyard/contracts/organization/usage.ts'
import { route, type Route } from '#platform/http/route.ts'
import { bucketLimit, bucketPage } from '../domain/usage-buckets.ts'
import { completionsView, costView, usagePageView } from '../domain/usage-view.ts'
import { readUsage } from '../steps/read-usage.ts'
import type { LimitsRouteUses } from './use.ts'

type Use = Pick<LimitsRouteUses, 'db' | 'orgs' | 'now'>

export const retrieveCompletionsUsageRoute = (use: Use) =>
  route(retrieveCompletionsUsage, async ({ scope: { orgId }, query }) => {
    const width = query.bucket_width
    const page = bucketPage(query, bucketLimit(width, query.limit), await use.now())
    const usedIn = await readUsage(use, orgId, {
      buckets: page.buckets,
      width,
      groupBy: new Set(query.group_by),
      projectIds: query.project_ids,
      keyIds: query.api_key_ids,
      userIds: query.user_ids,
      models: query.models,
      batch: query.batch,
    })
    return usagePageView(page, (start) => usedIn(start).map(completionsView))
  })

export const retrieveCostsRoute = (use: Use) =>
  route(retrieveCosts, async ({ scope: { orgId }, query }) => {
    const page = bucketPage(query, query.limit, await use.now())
    const fields = (query.group_by ?? []).map((field) => (field === 'line_item' ? 'model' : field))
    const usedIn = await readUsage(use, orgId, {
      buckets: page.buckets,
      width: query.bucket_width,
      groupBy: new Set(fields),
      projectIds: query.project_ids,
      keyIds: query.api_key_ids,
      models: query.line_items,
    })
    return usagePageView(page, (start) => usedIn(start).map(costView))
  })

/** Kinds of usage that nothing here makes yet. */
export const emptyUsageRoutes = (use: Pick<Use, 'now'>): Route[] =>
  usageOperations
    .filter((operation) => operation !== retrieveCompletionsUsage)
    .map((operation) =>
      route(operation, async ({ query }) => {
        const page = bucketPage(query, bucketLimit(query.bucket_width, query.limit), await use.now())
        return usagePageView(page, () => [])
      }),
    )
