import { z } from 'zod'
import { KeyId, ProjectId, ServiceAccountId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { projectParams } from './projects.ts'
import { KeyLifetimeSeconds, KeyScopes, Name, ProjectRole, timestamp } from './shared.ts'

export const ServiceAccount = z.strictObject({
  id: ServiceAccountId,
  object: z.literal('organization.project.service_account'),
  name: z.string(),
  /** The keys of an account with role `none` open nothing until it has another role. */
  role: z.enum(['owner', 'member', 'none']),
  created_at: timestamp,
})
export type ServiceAccount = z.infer<typeof ServiceAccount>

export const ServiceAccountKey = z.strictObject({
  id: KeyId,
  object: z.literal('organization.project.service_account.api_key'),
  name: z.string(),
  value: z.string(),
  created_at: timestamp,
  expires_at: timestamp.nullable(),
})
export type ServiceAccountKey = z.infer<typeof ServiceAccountKey>

const accountParams = z.strictObject({ project_id: ProjectId, service_account_id: ServiceAccountId })

export const listServiceAccounts = operation({
  id: 'admin.organization.projects.service_accounts.list',
  method: 'GET',
  path: '/v1/organization/projects/{project_id}/service_accounts',
  summary: 'List the service accounts of a project, newest first.',
  auth: 'admin_key',
  scope: 'organization.service_accounts.read',
  params: projectParams,
  query: pageQuery(),
  reply: pageOf(ServiceAccount),
  faults: ['not_found'],
})

export const createServiceAccount = operation({
  id: 'admin.organization.projects.service_accounts.create',
  method: 'POST',
  path: '/v1/organization/projects/{project_id}/service_accounts',
  summary: 'Create a service account and, unless told otherwise, its first key.',
  auth: 'admin_key',
  scope: 'organization.service_accounts.write',
  params: projectParams,
  body: z.strictObject({
    name: Name,
    create_service_account_only: z.boolean().nullish(),
    expires_in_seconds: KeyLifetimeSeconds.nullish(),
  }),
  reply: ServiceAccount.extend({ api_key: ServiceAccountKey.nullable() }),
  faults: ['not_found', 'invalid_state_transition', 'mutually_exclusive_parameters'],
  creates: true,
  showsSecret: true,
})

export const retrieveServiceAccount = operation({
  id: 'admin.organization.projects.service_accounts.retrieve',
  method: 'GET',
  path: '/v1/organization/projects/{project_id}/service_accounts/{service_account_id}',
  summary: 'Read a service account.',
  auth: 'admin_key',
  scope: 'organization.service_accounts.read',
  params: accountParams,
  reply: ServiceAccount,
  faults: ['not_found'],
})

export const updateServiceAccount = operation({
  id: 'admin.organization.projects.service_accounts.update',
  method: 'POST',
  path: '/v1/organization/projects/{project_id}/service_accounts/{service_account_id}',
  summary: 'Rename a service account, or change its role.',
  auth: 'admin_key',
  scope: 'organization.service_accounts.write',
  params: accountParams,
  body: z.strictObject({ name: Name.optional(), role: ProjectRole.optional() }),
  reply: ServiceAccount,
  faults: ['not_found', 'invalid_state_transition'],
})

export const deleteServiceAccount = operation({
  id: 'admin.organization.projects.service_accounts.delete',
  method: 'DELETE',
  path: '/v1/organization/projects/{project_id}/service_accounts/{service_account_id}',
  summary: 'Delete a service account; its keys stop working at once.',
  auth: 'admin_key',
  scope: 'organization.service_accounts.write',
  params: accountParams,
  reply: z.strictObject({
    id: ServiceAccountId,
    object: z.literal('organization.project.service_account.deleted'),
    deleted: z.literal(true),
  }),
  faults: ['not_found', 'invalid_state_transition'],
})

export const createServiceAccountKey = operation({
  id: 'admin.organization.projects.service_accounts.api_keys.create',
  method: 'POST',
  path: '/v1/organization/projects/{project_id}/service_accounts/{service_account_id}/api_keys',
  summary: 'Mint a key for a service account; its value is shown once.',
  auth: 'admin_key',
  scope: 'organization.service_accounts.write',
  params: accountParams,
  body: z.strictObject({
    name: Name.optional(),
    scopes: KeyScopes.optional(),
    expires_in_seconds: KeyLifetimeSeconds.nullish(),
  }),
  bodyOptional: true,
  reply: ServiceAccountKey,
  faults: ['not_found', 'invalid_state_transition', 'invalid_value'],
  creates: true,
  showsSecret: true,
})

export const serviceAccountOperations = [
  listServiceAccounts,
  createServiceAccount,
  retrieveServiceAccount,
  updateServiceAccount,
  deleteServiceAccount,
  createServiceAccountKey,
] as const
