import {
  listAdminApiKeys,
  rotateAdminApiKey,
  type adminApiKeyOperations,
} from '@switchyard/contracts/organization/admin-api-keys.ts'
import { rotateAdsApiKey, type adsApiKeyOperations } from '@switchyard/contracts/organization/ads-api-keys.ts'
import { listAuditLogs, type auditLogOperations } from '@switchyard/contracts/organization/audit-logs.ts'
import type { containerNetworkPolicyOperations } from '@switchyard/contracts/organization/container-network-policy.ts'
import type { inviteOperations } from '@switchyard/contracts/organization/invites.ts'
import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import type { userOperations } from '@switchyard/contracts/organization/users.ts'
import { newAdminKey, newAdsKey, newInvite, newProject } from '../examples/organization.ts'
import { newEmail, newMember } from '../examples/people.ts'
import { mintKey } from '../minted-keys.ts'
import { make, type Place } from '../place.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'

const missing =
  (params: Record<string, string>, body?: Record<string, unknown>): FaultCase =>
  async () => ({ params, ...(body && { body }), param: null })

/** An organisation of its own, in which nobody is yet an owner. */
export async function emptyPlace(at: Place): Promise<Place> {
  const { orgId, adminKey } = await at.app.orgs.createOrganization({ name: 'Empty' })
  return { ...at, org: { ...at.org, id: orgId, adminKey } }
}

const lastOwner =
  (body?: Record<string, unknown>): FaultCase =>
  async (at) => {
    const empty = await emptyPlace(at)
    const { id } = await newMember(empty, { role: 'owner' })
    return { params: { user_id: id }, key: empty.org.adminKey, ...(body && { body }), param: null }
  }

export const userFaults: FaultCases<typeof userOperations> = {
  'admin.organization.users.retrieve': { not_found: missing({ user_id: 'user-none' }) },
  'admin.organization.users.update': {
    not_found: missing({ user_id: 'user-none' }, { role: 'reader' }),
    invalid_state_transition: lastOwner({ role: 'reader' }),
    unsupported_value: async (at) => ({
      params: { user_id: (await newMember(at)).id },
      body: { role_id: 'role' },
      param: 'role_id',
    }),
  },
  'admin.organization.users.delete': {
    not_found: missing({ user_id: 'user-none' }),
    invalid_state_transition: lastOwner(),
  },
}

const inviteTo = (projectIds: string[]) => ({
  email: newEmail(),
  role: 'reader',
  projects: projectIds.map((id) => ({ id, role: 'member' })),
})

export const inviteFaults: FaultCases<typeof inviteOperations> = {
  'admin.organization.invites.create': {
    not_found: async () => ({ body: inviteTo(['proj_c0_none']), param: 'projects[0].id' }),
    already_exists: async (at) => ({
      body: { email: (await newInvite(at)).email, role: 'reader' },
      param: 'email',
    }),
    async invalid_state_transition(at) {
      const { id } = await newProject(at)
      await make(at, archiveProject, { params: { project_id: id } })
      return { body: inviteTo([id]), param: 'projects[0].id' }
    },
    invalid_value: async (at) => ({ body: inviteTo([at.project.id, at.project.id]), param: 'projects[1].id' }),
  },
  'admin.organization.invites.retrieve': { not_found: missing({ invite_id: 'invite-none' }) },
  'admin.organization.invites.delete': {
    not_found: missing({ invite_id: 'invite-none' }),
    async invalid_state_transition(at) {
      const { id, email } = await newInvite(at)
      await at.app.orgs.acceptInvite({ inviteId: id, email, name: 'Person' })
      return { params: { invite_id: id }, param: null }
    },
  },
}

const noKey = { key_id: 'key_none' }
const narrow = async (at: Place) => (await mintKey(at, 'admin_key', ['organization.admin_api_keys.write'])).value

export const adminApiKeyFaults: FaultCases<typeof adminApiKeyOperations> = {
  'admin.organization.admin_api_keys.create': {
    invalid_value: async () => ({ body: { name: 'x', scopes: ['fun'] }, param: 'scopes[0]' }),
    insufficient_permissions: async (at) => ({ body: { name: 'x' }, key: await narrow(at), param: null }),
  },
  'admin.organization.admin_api_keys.retrieve': { not_found: missing(noKey) },
  'admin.organization.admin_api_keys.delete': {
    not_found: missing(noKey),
    async invalid_state_transition(at) {
      const empty = await emptyPlace(at)
      const { data } = await make(empty, listAdminApiKeys)
      return { params: { key_id: data[0]?.id ?? '' }, key: empty.org.adminKey, param: null }
    },
  },
  'admin.organization.admin_api_keys.rotate': {
    not_found: missing(noKey),
    async invalid_state_transition(at) {
      const params = { key_id: (await newAdminKey(at)).id }
      await make(at, rotateAdminApiKey, { params, body: { overlap_seconds: 60 } })
      return { params, param: null }
    },
    insufficient_permissions: async (at) => ({
      params: { key_id: (await newAdminKey(at)).id },
      key: await narrow(at),
      param: null,
    }),
  },
}

export const adsApiKeyFaults: FaultCases<typeof adsApiKeyOperations> = {
  'admin.organization.ads_api_keys.create': {
    not_found: async () => ({ body: { name: 'x', ad_account_id: 'adacct_none' }, param: 'ad_account_id' }),
  },
  'admin.organization.ads_api_keys.retrieve': { not_found: missing(noKey) },
  'admin.organization.ads_api_keys.delete': { not_found: missing(noKey) },
  'admin.organization.ads_api_keys.rotate': {
    not_found: missing(noKey),
    async invalid_state_transition(at) {
      const params = { key_id: (await newAdsKey(at)).id }
      await make(at, rotateAdsApiKey, { params, body: { overlap_seconds: 60 } })
      return { params, param: null }
    },
  },
}

export const containerNetworkPolicyFaults: FaultCases<typeof containerNetworkPolicyOperations> = {
  'admin.organization.container_network_policy.update': {
    invalid_value: async () => ({
      body: { allowed_domains: ['example.com', 'example.com'] },
      param: 'allowed_domains[1]',
    }),
  },
}

export const auditLogFaults: FaultCases<typeof auditLogOperations> = {
  'admin.organization.audit_logs.list': {
    async mutually_exclusive_parameters(at) {
      const { data } = await make(at, listAuditLogs, { query: { limit: 1 } })
      const id = data[0]?.id ?? ''
      return { query: { after: id, before: id }, param: 'before' }
    },
    unsupported_value: async () => ({ query: { tenant_only: 'true' }, param: 'tenant_only' }),
  },
}
