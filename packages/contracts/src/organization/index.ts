import { adminApiKeyOperations } from './admin-api-keys.ts'
import { adsApiKeyOperations } from './ads-api-keys.ts'
import { auditLogOperations } from './audit-logs.ts'
import { containerNetworkPolicyOperations } from './container-network-policy.ts'
import { inviteOperations } from './invites.ts'
import { organizationItselfOperations } from './organization.ts'
import { projectApiKeyOperations } from './project-api-keys.ts'
import { projectUserOperations } from './project-users.ts'
import { projectOperations } from './projects.ts'
import { serviceAccountOperations } from './service-accounts.ts'
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
  ...auditLogOperations,
] as const
