import { createAdminApiKey } from '@switchyard/contracts/organization/admin-api-keys.ts'
import { createAdsApiKey } from '@switchyard/contracts/organization/ads-api-keys.ts'
import { listAuditLogs } from '@switchyard/contracts/organization/audit-logs.ts'
import type { organizationOperations } from '@switchyard/contracts/organization/index.ts'
import { createInvite } from '@switchyard/contracts/organization/invites.ts'
import { createProject } from '@switchyard/contracts/organization/projects.ts'
import { createServiceAccount } from '@switchyard/contracts/organization/service-accounts.ts'
import type { MakeExample } from '../example.ts'
import { make, type Place } from '../place.ts'
import { limitsAdminExamples } from './limits.ts'
import { newEmail, newMember } from './people.ts'

export const newProject = (at: Place) => make(at, createProject, { body: { name: 'A project' } })

export async function newServiceAccount(at: Place): Promise<{ id: string; keyId: string; keyValue: string }> {
  const params = { project_id: at.project.id }
  const { id, api_key: key } = await make(at, createServiceAccount, { params, body: { name: 'robot' } })
  return { id, keyId: key?.id ?? '', keyValue: key?.value ?? '' }
}

export const newAdminKey = (at: Place) => make(at, createAdminApiKey, { body: { name: 'An admin key' } })
export const newAdsKey = (at: Place) => make(at, createAdsApiKey, { body: { name: 'An ads key' } })
export const newInvite = (at: Place) => make(at, createInvite, { body: { email: newEmail(), role: 'reader' } })

const inProject = (at: Place) => ({ project_id: at.project.id })
const projectParams: MakeExample = async (at) => ({ params: { project_id: (await newProject(at)).id } })
const keyParams: MakeExample = async (at) => ({
  params: { ...inProject(at), key_id: (await newServiceAccount(at)).keyId },
})
const accountParams: MakeExample = async (at) => ({
  params: { ...inProject(at), service_account_id: (await newServiceAccount(at)).id },
})
const projectUserParams: MakeExample = async (at) => ({
  params: { ...inProject(at), user_id: (await newMember(at, { inProject: true })).id },
})
const userParams: MakeExample = async (at) => ({ params: { user_id: (await newMember(at)).id } })
const inviteParams: MakeExample = async (at) => ({ params: { invite_id: (await newInvite(at)).id } })
const adminKeyParams: MakeExample = async (at) => ({ params: { key_id: (await newAdminKey(at)).id } })
const adsKeyParams: MakeExample = async (at) => ({ params: { key_id: (await newAdsKey(at)).id } })

const withBody =
  (example: MakeExample, body: Record<string, unknown>): MakeExample =>
  async (at) => ({ ...(await example(at)), body })

/** A page that starts after something of the place. */
const pageAfter =
  (last: (at: Place) => Promise<string>, params: (at: Place) => Record<string, string> = () => ({})): MakeExample =>
  async (at) => ({ params: params(at), query: { after: await last(at) }, references: ['query.after'] })

async function auditExample(at: Place) {
  const { id: projectId } = await newProject(at)
  const { data } = await make(at, listAuditLogs, { query: { limit: 1 } })
  return {
    query: {
      after: data[0]?.id ?? '',
      project_ids: [projectId],
      resource_ids: [projectId],
      actor_ids: [(await newMember(at)).id],
    },
    references: ['query.after', 'query.project_ids.0', 'query.resource_ids.0', 'query.actor_ids.0'],
  }
}

type OrganizationOperationId = (typeof organizationOperations)[number]['id']

export const organizationExamples: Record<OrganizationOperationId, MakeExample> = {
  'admin.organization.retrieve': async () => ({}),
  'admin.organization.update': async () => ({ body: { name: 'Renamed' } }),

  'admin.organization.projects.list': pageAfter(async (at) => (await newProject(at)).id),
  'admin.organization.projects.create': async () => ({ body: { name: 'Made' } }),
  'admin.organization.projects.retrieve': projectParams,
  'admin.organization.projects.update': withBody(projectParams, { name: 'Renamed' }),
  'admin.organization.projects.archive': projectParams,

  'admin.organization.projects.api_keys.list': pageAfter(async (at) => (await newServiceAccount(at)).keyId, inProject),
  'admin.organization.projects.api_keys.retrieve': keyParams,
  'admin.organization.projects.api_keys.update': withBody(keyParams, { scopes: ['files.read'] }),
  'admin.organization.projects.api_keys.delete': async (at) => {
    const project = await at.app.orgs.mintProjectKey({
      orgId: at.org.id,
      projectId: at.project.id,
      name: 'to be revoked',
    })
    return { params: { ...inProject(at), key_id: project.keyId } }
  },
  'admin.organization.projects.api_keys.rotate': withBody(keyParams, { overlap_seconds: 60 }),

  'admin.organization.projects.service_accounts.list': pageAfter(
    async (at) => (await newServiceAccount(at)).id,
    inProject,
  ),
  'admin.organization.projects.service_accounts.create': async (at) => ({
    params: inProject(at),
    body: { name: 'robot' },
  }),
  'admin.organization.projects.service_accounts.retrieve': accountParams,
  'admin.organization.projects.service_accounts.update': withBody(accountParams, { name: 'renamed' }),
  'admin.organization.projects.service_accounts.delete': accountParams,
  'admin.organization.projects.service_accounts.api_keys.create': withBody(accountParams, { name: 'second' }),

  'admin.organization.projects.users.list': pageAfter(
    async (at) => (await newMember(at, { inProject: true })).id,
    inProject,
  ),
  'admin.organization.projects.users.create': async (at) => ({
    params: inProject(at),
    body: { role: 'member', user_id: (await newMember(at)).id },
    references: ['body.user_id'],
  }),
  'admin.organization.projects.users.retrieve': projectUserParams,
  'admin.organization.projects.users.update': withBody(projectUserParams, { role: 'owner' }),
  'admin.organization.projects.users.delete': projectUserParams,

  'admin.organization.users.list': pageAfter(async (at) => (await newMember(at)).id),
  'admin.organization.users.retrieve': userParams,
  'admin.organization.users.update': withBody(userParams, { role: 'owner' }),
  'admin.organization.users.delete': userParams,

  'admin.organization.invites.list': pageAfter(async (at) => (await newInvite(at)).id),
  'admin.organization.invites.create': async (at) => ({
    body: {
      email: newEmail(),
      role: 'reader',
      projects: [{ id: (await newProject(at)).id, role: 'member' }],
    },
    references: ['body.projects.0.id'],
  }),
  'admin.organization.invites.retrieve': inviteParams,
  'admin.organization.invites.delete': inviteParams,

  'admin.organization.admin_api_keys.list': pageAfter(async (at) => (await newAdminKey(at)).id),
  'admin.organization.admin_api_keys.create': async () => ({ body: { name: 'An admin key' } }),
  'admin.organization.admin_api_keys.retrieve': adminKeyParams,
  'admin.organization.admin_api_keys.delete': adminKeyParams,
  'admin.organization.admin_api_keys.rotate': withBody(adminKeyParams, { overlap_seconds: 60 }),

  'admin.organization.ads_api_keys.list': pageAfter(async (at) => (await newAdsKey(at)).id),
  'admin.organization.ads_api_keys.create': async (at) => ({
    body: { name: 'An ads key', ad_account_id: (await newAdsKey(at)).ad_account_id },
    references: ['body.ad_account_id'],
  }),
  'admin.organization.ads_api_keys.retrieve': adsKeyParams,
  'admin.organization.ads_api_keys.delete': adsKeyParams,
  'admin.organization.ads_api_keys.rotate': withBody(adsKeyParams, { overlap_seconds: 60 }),

  'admin.organization.container_network_policy.retrieve': async () => ({}),
  'admin.organization.container_network_policy.update': async () => ({
    body: { type: 'allowlist', allowed_domains: ['example.com'] },
  }),

  'admin.organization.audit_logs.list': auditExample,

  ...limitsAdminExamples,
}
