import { adminApiKeyOperations } from './admin-api-keys.ts'
import { adsApiKeyOperations } from './ads-api-keys.ts'
import { auditLogOperations } from './audit-logs.ts'
import { containerNetworkPolicyOperations } from './container-network-policy.ts'
import { costOperations } from './costs.ts'
import { inviteOperations } from './invites.ts'
import { limitsExplainOperations } from './limits-explain.ts'
import { organizationItselfOperations } from './organization.ts'
import { paymentOperations } from './payments.ts'
import { projectApiKeyOperations } from './project-api-keys.ts'
import { projectRateLimitOperations } from './project-rate-limits.ts'
import { projectUserOperations } from './project-users.ts'
import { projectOperations } from './projects.ts'
import { serviceAccountOperations } from './service-accounts.ts'
import { spendLimitOperations } from './spend-limits.ts'
import { usageTierOperations } from './usage-tier.ts'
import { usageOperations } from './usage.ts'
import { userOperations } from './users.ts'

export const organizationOperations = [
  ...organizationItselfOperations,
  ...projectOperations,
  ...projectApiKeyOperations,
  ...serviceAccountOperations,
  ...projectUserOperations,
  ...userOperations,
  ...inviteOperations,
  ...adminApiKeyOperations,
  ...adsApiKeyOperations,
  ...containerNetworkPolicyOperations,
  ...limitsExplainOperations,
  ...auditLogOperations,
  ...paymentOperations,
  ...usageTierOperations,
  ...projectRateLimitOperations,
  ...spendLimitOperations,
  ...usageOperations,
  ...costOperations,
] as const
