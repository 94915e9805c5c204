import { z } from 'zod'
import { KeyId } from '../ids.ts'
import { operation } from '../operation.ts'
import { Order, pageOf, pageQuery } from '../page.ts'
import { KeyLifetimeSeconds, KeyScopes, Name, ReplacedKey, RotateKey, timestamp } from './shared.ts'

/** The person the key was made for, or the organisation itself. */
const AdminKeyOwner = z.strictObject({
  type: z.enum(['user', 'organization']),
  object: z.enum(['organization.user', 'organization']),
  id: z.string(),
  name: z.string(),
  created_at: timestamp,
  role: z.literal('owner'),
})

export const AdminApiKey = z.strictObject({
  id: KeyId,
  object: z.literal('organization.admin_api_key'),
  name: z.string(),
  redacted_value: z.string(),
  /** Empty: no restriction. */
  scopes: z.array(z.string()),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
  owner: AdminKeyOwner,
})
export type AdminApiKey = z.infer<typeof AdminApiKey>

const keyParams = z.strictObject({ key_id: KeyId })

export const listAdminApiKeys = operation({
  id: 'admin.organization.admin_api_keys.list',
  method: 'GET',
  path: '/v1/organization/admin_api_keys',
  summary: 'List the admin keys.',
  auth: 'admin_key',
  scope: 'organization.admin_api_keys.read',
  query: pageQuery().extend({ order: Order }),
  reply: pageOf(AdminApiKey),
})

export const createAdminApiKey = operation({
  id: 'admin.organization.admin_api_keys.create',
  method: 'POST',
  path: '/v1/organization/admin_api_keys',
  summary: 'Mint an admin key; its value is shown once.',
  auth: 'admin_key',
  scope: 'organization.admin_api_keys.write',
  body: z.strictObject({
    name: Name,
    scopes: KeyScopes.optional(),
    expires_in_seconds: KeyLifetimeSeconds.optional(),
  }),
  reply: AdminApiKey.extend({ value: z.string() }),
  faults: ['invalid_value', 'insufficient_permissions'],
  creates: true,
  showsSecret: true,
})

export const retrieveAdminApiKey = operation({
  id: 'admin.organization.admin_api_keys.retrieve',
  method: 'GET',
  path: '/v1/organization/admin_api_keys/{key_id}',
  summary: 'Read what is known about an admin key.',
  auth: 'admin_key',
  scope: 'organization.admin_api_keys.read',
  params: keyParams,
  reply: AdminApiKey,
  faults: ['not_found'],
})

export const deleteAdminApiKey = operation({
  id: 'admin.organization.admin_api_keys.delete',
  method: 'DELETE',
  path: '/v1/organization/admin_api_keys/{key_id}',
  summary: 'Revoke an admin key, unless it is the last one in force.',
  auth: 'admin_key',
  scope: 'organization.admin_api_keys.write',
  params: keyParams,
  reply: z.strictObject({
    id: KeyId,
    object: z.literal('organization.admin_api_key.deleted'),
    deleted: z.literal(true),
  }),
  faults: ['not_found', 'invalid_state_transition'],
})

export const rotateAdminApiKey = operation({
  id: 'admin.organization.admin_api_keys.rotate',
  method: 'POST',
  path: '/v1/organization/admin_api_keys/{key_id}/rotate',
  summary: 'Replace an admin key by a new one of the same owner, scopes and lifetime.',
  auth: 'admin_key',
  scope: 'organization.admin_api_keys.write',
  params: keyParams,
  body: RotateKey,
  bodyOptional: true,
  reply: AdminApiKey.extend({ value: z.string(), replaces: ReplacedKey }),
  faults: ['not_found', 'invalid_state_transition', 'insufficient_permissions'],
  creates: true,
  showsSecret: true,
})

export const adminApiKeyOperations = [
  listAdminApiKeys,
  createAdminApiKey,
  retrieveAdminApiKey,
  deleteAdminApiKey,
  rotateAdminApiKey,
] as const
