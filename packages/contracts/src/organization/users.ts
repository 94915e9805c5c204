import { z } from 'zod'
import { UserId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { Email, OrganizationRole, timestamp } from './shared.ts'

export const emailsFilterMax = 50
const personaMax = 200

export const OrganizationUser = z.strictObject({
  id: UserId,
  object: z.literal('organization.user'),
  name: z.string(),
  email: z.string(),
  role: OrganizationRole,
  added_at: timestamp,
  created: timestamp,
  is_service_account: z.literal(false),
})
export type OrganizationUser = z.infer<typeof OrganizationUser>

const userParams = z.strictObject({ user_id: UserId })

export const listUsers = operation({
  id: 'admin.organization.users.list',
  method: 'GET',
  path: '/v1/organization/users',
  summary: 'List the members of the organisation, or those with certain e-mail addresses.',
  auth: 'admin_key',
  scope: 'organization.users.read',
  query: pageQuery().extend({ emails: z.array(Email).min(1).max(emailsFilterMax).optional() }),
  reply: pageOf(OrganizationUser),
})

export const retrieveUser = operation({
  id: 'admin.organization.users.retrieve',
  method: 'GET',
  path: '/v1/organization/users/{user_id}',
  summary: 'Read a member of the organisation.',
  auth: 'admin_key',
  scope: 'organization.users.read',
  params: userParams,
  reply: OrganizationUser,
  faults: ['not_found'],
})

export const updateUser = operation({
  id: 'admin.organization.users.update',
  method: 'POST',
  path: '/v1/organization/users/{user_id}',
  summary: 'Change the role of a member; the last owner stays an owner.',
  auth: 'admin_key',
  scope: 'organization.users.write',
  params: userParams,
  body: z.strictObject({
    role: OrganizationRole.nullish(),
    role_id: z.string().max(personaMax).nullish(),
    developer_persona: z.string().max(personaMax).nullish(),
    technical_level: z.string().max(personaMax).nullish(),
  }),
  reply: OrganizationUser,
  faults: ['not_found', 'invalid_state_transition', 'unsupported_value'],
})

export const deleteUser = operation({
  id: 'admin.organization.users.delete',
  method: 'DELETE',
  path: '/v1/organization/users/{user_id}',
  summary: 'Take a member out of the organisation and its projects, and revoke their keys.',
  auth: 'admin_key',
  scope: 'organization.users.write',
  params: userParams,
  reply: z.strictObject({ id: UserId, object: z.literal('organization.user.deleted'), deleted: z.literal(true) }),
  faults: ['not_found', 'invalid_state_transition'],
})

export const userOperations = [listUsers, retrieveUser, updateUser, deleteUser] as const
