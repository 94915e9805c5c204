import { z } from 'zod'
import { KeyId, ProjectId, ServiceAccountId, UserId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { projectParams } from './projects.ts'
import { KeyLifetimeSeconds, KeyScopes, ReplacedKey, RotateKey, timestamp } from './shared.ts'

/** Without a type: minted at the command line for nobody in particular. */
const ProjectKeyOwner = z.strictObject({
  type: z.enum(['user', 'service_account']).optional(),
  user: z
    .strictObject({ id: UserId, name: z.string(), email: z.string(), role: z.string(), created_at: timestamp })
    .optional(),
  service_account: z
    .strictObject({ id: ServiceAccountId, name: z.string(), role: z.string(), created_at: timestamp })
    .optional(),
})

export const ProjectApiKey = z.strictObject({
  id: KeyId,
  object: z.literal('organization.project.api_key'),
  name: z.string(),
  redacted_value: z.string(),
  /** Empty: no restriction. */
  scopes: z.array(z.string()),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
  owner: ProjectKeyOwner,
  owner_project_access: z.enum(['active', 'inactive']),
})
export type ProjectApiKey = z.infer<typeof ProjectApiKey>

const keyParams = z.strictObject({ project_id: ProjectId, key_id: KeyId })

export const listProjectApiKeys = operation({
  id: 'admin.organization.projects.api_keys.list',
  method: 'GET',
  path: '/v1/organization/projects/{project_id}/api_keys',
  summary: 'List the keys of a project, newest first.',
  auth: 'admin_key',
  scope: 'organization.project_api_keys.read',
  params: projectParams,
  query: pageQuery().extend({ owner_project_access: z.enum(['active', 'inactive', 'any']).default('any') }),
  reply: pageOf(ProjectApiKey),
  faults: ['not_found'],
})

export const retrieveProjectApiKey = operation({
  id: 'admin.organization.projects.api_keys.retrieve',
  method: 'GET',
  path: '/v1/organization/projects/{project_id}/api_keys/{key_id}',
  summary: 'Read what is known about a key; its value is never shown again.',
  auth: 'admin_key',
  scope: 'organization.project_api_keys.read',
  params: keyParams,
  reply: ProjectApiKey,
  faults: ['not_found'],
})

export const updateProjectApiKey = operation({
  id: 'admin.organization.projects.api_keys.update',
  method: 'POST',
  path: '/v1/organization/projects/{project_id}/api_keys/{key_id}',
  summary: 'Change the scopes of a key, or when it expires.',
  auth: 'admin_key',
  scope: 'organization.project_api_keys.write',
  params: keyParams,
  body: z.strictObject({ scopes: KeyScopes.optional(), expires_in_seconds: KeyLifetimeSeconds.optional() }),
  reply: ProjectApiKey,
  faults: ['not_found', 'invalid_state_transition', 'missing_required_parameter', 'invalid_value'],
})

export const deleteProjectApiKey = operation({
  id: 'admin.organization.projects.api_keys.delete',
  method: 'DELETE',
  path: '/v1/organization/projects/{project_id}/api_keys/{key_id}',
  summary: 'Revoke a key; it stops working at once.',
  auth: 'admin_key',
  scope: 'organization.project_api_keys.write',
  params: keyParams,
  reply: z.strictObject({
    id: KeyId,
    object: z.literal('organization.project.api_key.deleted'),
    deleted: z.literal(true),
  }),
  faults: ['not_found', 'invalid_state_transition'],
})

export const rotateProjectApiKey = operation({
  id: 'admin.organization.projects.api_keys.rotate',
  method: 'POST',
  path: '/v1/organization/projects/{project_id}/api_keys/{key_id}/rotate',
  summary: 'Replace a key by a new one of the same owner, scopes and lifetime.',
  auth: 'admin_key',
  scope: 'organization.project_api_keys.write',
  params: keyParams,
  body: RotateKey,
  bodyOptional: true,
  reply: ProjectApiKey.extend({ value: z.string(), replaces: ReplacedKey }),
  faults: ['not_found', 'invalid_state_transition'],
  creates: true,
  showsSecret: true,
})

export const projectApiKeyOperations = [
  listProjectApiKeys,
  retrieveProjectApiKey,
  updateProjectApiKey,
  deleteProjectApiKey,
  rotateProjectApiKey,
] as const
