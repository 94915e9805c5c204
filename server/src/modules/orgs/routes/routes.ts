import type { Route } from '#platform/http/route.ts'
import { createAdminApiKeyRoute } from './admin-api-keys/create-admin-api-key.ts'
import { deleteAdminApiKeyRoute } from './admin-api-keys/delete-admin-api-key.ts'
import { listAdminApiKeysRoute } from './admin-api-keys/list-admin-api-keys.ts'
import { retrieveAdminApiKeyRoute } from './admin-api-keys/retrieve-admin-api-key.ts'
import { rotateAdminApiKeyRoute } from './admin-api-keys/rotate-admin-api-key.ts'
import { createAdsApiKeyRoute } from './ads-api-keys/create-ads-api-key.ts'
import { deleteAdsApiKeyRoute } from './ads-api-keys/delete-ads-api-key.ts'
import { listAdsApiKeysRoute } from './ads-api-keys/list-ads-api-keys.ts'
import { retrieveAdsApiKeyRoute } from './ads-api-keys/retrieve-ads-api-key.ts'
import { rotateAdsApiKeyRoute } from './ads-api-keys/rotate-ads-api-key.ts'
import { listAuditLogsRoute } from './audit-logs/list-audit-logs.ts'
import { retrieveContainerNetworkPolicyRoute } from './container-network-policy/retrieve-container-network-policy.ts'
import { updateContainerNetworkPolicyRoute } from './container-network-policy/update-container-network-policy.ts'
import { createInviteRoute } from './invites/create-invite.ts'
import { deleteInviteRoute } from './invites/delete-invite.ts'
import { listInvitesRoute } from './invites/list-invites.ts'
import { retrieveInviteRoute } from './invites/retrieve-invite.ts'
import { retrieveOrganizationRoute } from './organization/retrieve-organization.ts'
import { updateOrganizationRoute } from './organization/update-organization.ts'
import { deleteProjectApiKeyRoute } from './project-api-keys/delete-project-api-key.ts'
import { listProjectApiKeysRoute } from './project-api-keys/list-project-api-keys.ts'
import { retrieveProjectApiKeyRoute } from './project-api-keys/retrieve-project-api-key.ts'
import { rotateProjectApiKeyRoute } from './project-api-keys/rotate-project-api-key.ts'
import { updateProjectApiKeyRoute } from './project-api-keys/update-project-api-key.ts'
import { createProjectUserRoute } from './project-users/create-project-user.ts'
import { deleteProjectUserRoute } from './project-users/delete-project-user.ts'
import { listProjectUsersRoute } from './project-users/list-project-users.ts'
import { retrieveProjectUserRoute } from './project-users/retrieve-project-user.ts'
import { updateProjectUserRoute } from './project-users/update-project-user.ts'
import { archiveProjectRoute } from './projects/archive-project.ts'
import { createProjectRoute } from './projects/create-project.ts'
import { listProjectsRoute } from './projects/list-projects.ts'
import { retrieveProjectRoute } from './projects/retrieve-project.ts'
import { updateProjectRoute } from './projects/update-project.ts'
import { createServiceAccountKeyRoute } from './service-accounts/create-service-account-key.ts'
import { createServiceAccountRoute } from './service-accounts/create-service-account.ts'
import { deleteServiceAccountRoute } from './service-accounts/delete-service-account.ts'
import { listServiceAccountsRoute } from './service-accounts/list-service-accounts.ts'
import { retrieveServiceAccountRoute } from './service-accounts/retrieve-service-account.ts'
import { updateServiceAccountRoute } from './service-accounts/update-service-account.ts'
import { deleteUserRoute } from './users/delete-user.ts'
import { listUsersRoute } from './users/list-users.ts'
import { retrieveUserRoute } from './users/retrieve-user.ts'
import { updateUserRoute } from './users/update-user.ts'
import type { OrgsUse } from '../use.ts'

export function orgsRoutes(use: OrgsUse): Route[] {
  return [
    retrieveOrganizationRoute(use),
    updateOrganizationRoute(use),
    archiveProjectRoute(use),
    createProjectRoute(use),
    listProjectsRoute(use),
    retrieveProjectRoute(use),
    updateProjectRoute(use),
    deleteProjectApiKeyRoute(use),
    listProjectApiKeysRoute(use),
    retrieveProjectApiKeyRoute(use),
    rotateProjectApiKeyRoute(use),
    updateProjectApiKeyRoute(use),
    createServiceAccountKeyRoute(use),
    createServiceAccountRoute(use),
    deleteServiceAccountRoute(use),
    listServiceAccountsRoute(use),
    retrieveServiceAccountRoute(use),
    updateServiceAccountRoute(use),
    createProjectUserRoute(),
    deleteProjectUserRoute(use),
    listProjectUsersRoute(use),
    retrieveProjectUserRoute(use),
    updateProjectUserRoute(use),
    deleteUserRoute(use),
    listUsersRoute(use),
    retrieveUserRoute(use),
    updateUserRoute(use),
    createInviteRoute(),
    deleteInviteRoute(use),
    listInvitesRoute(use),
    retrieveInviteRoute(use),
    createAdminApiKeyRoute(use),
    deleteAdminApiKeyRoute(use),
    listAdminApiKeysRoute(use),
    retrieveAdminApiKeyRoute(use),
    rotateAdminApiKeyRoute(use),
    createAdsApiKeyRoute(use),
    deleteAdsApiKeyRoute(use),
    listAdsApiKeysRoute(use),
    retrieveAdsApiKeyRoute(use),
    rotateAdsApiKeyRoute(use),
    retrieveContainerNetworkPolicyRoute(use),
    updateContainerNetworkPolicyRoute(use),
    listAuditLogsRoute(use),
  ]
}
