import type { Route } from '#platform/http/route.ts'
import { createPaymentRoute } from './create-payment.ts'
import { listFineTuningModelLimitsRoute } from './list-fine-tuning-model-limits.ts'
import { listPaymentsRoute } from './list-payments.ts'
import { listProjectRateLimitsRoute, updateProjectRateLimitRoute } from './project-rate-limits.ts'
import { emptyUsageRoutes, retrieveCompletionsUsageRoute, retrieveCostsRoute } from './retrieve-usage.ts'
import { retrieveUsageTierRoute } from './retrieve-usage-tier.ts'
import { organizationSpendLimitRoutes, projectSpendLimitRoutes } from './spend-limits.ts'
import type { LimitsRouteUses } from './use.ts'

export type { LimitsRouteUses } from './use.ts'

export function limitsRoutes(use: LimitsRouteUses): Route[] {
  return [
    createPaymentRoute(use),
    listPaymentsRoute(use),
    retrieveUsageTierRoute(use),
    listProjectRateLimitsRoute(use),
    updateProjectRateLimitRoute(use),
    ...organizationSpendLimitRoutes(use),
    ...projectSpendLimitRoutes(use),
    retrieveCompletionsUsageRoute(use),
    ...emptyUsageRoutes(use),
    retrieveCostsRoute(use),
    listFineTuningModelLimitsRoute(use),
  ]
}
