import { z } from 'zod'
import { InviteId, ProjectId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { Email, OrganizationRole, ProjectRole, timestamp } from './shared.ts'

export const inviteProjectsMax = 100

const InviteProject = z.strictObject({ id: ProjectId, role: ProjectRole })

export const Invite = z.strictObject({
  id: InviteId,
  object: z.literal('organization.invite'),
  email: z.string(),
  role: OrganizationRole,
  status: z.enum(['pending', 'accepted', 'expired']),
  projects: z.array(InviteProject),
  created_at: timestamp,
  expires_at: timestamp,
  accepted_at: timestamp.nullable(),
})
export type Invite = z.infer<typeof Invite>

const inviteParams = z.strictObject({ invite_id: InviteId })

export const listInvites = operation({
  id: 'admin.organization.invites.list',
  method: 'GET',
  path: '/v1/organization/invites',
  summary: 'List the invites, newest first.',
  auth: 'admin_key',
  scope: 'organization.invites.read',
  query: pageQuery(),
  reply: pageOf(Invite),
})

export const createInvite = operation({
  id: 'admin.organization.invites.create',
  method: 'POST',
  path: '/v1/organization/invites',
  summary: 'Invite a person to the organisation and to some of its projects, for seven days.',
  auth: 'admin_key',
  scope: 'organization.invites.write',
  body: z.strictObject({
    email: Email,
    role: OrganizationRole,
    projects: z.array(InviteProject).max(inviteProjectsMax).optional(),
  }),
  reply: Invite,
  faults: ['not_found', 'already_exists', 'invalid_state_transition', 'invalid_value'],
  creates: true,
})

export const retrieveInvite = operation({
  id: 'admin.organization.invites.retrieve',
  method: 'GET',
  path: '/v1/organization/invites/{invite_id}',
  summary: 'Read an invite.',
  auth: 'admin_key',
  scope: 'organization.invites.read',
  params: inviteParams,
  reply: Invite,
  faults: ['not_found'],
})

export const deleteInvite = operation({
  id: 'admin.organization.invites.delete',
  method: 'DELETE',
  path: '/v1/organization/invites/{invite_id}',
  summary: 'Take back an invite that was not accepted.',
  auth: 'admin_key',
  scope: 'organization.invites.write',
  params: inviteParams,
  reply: z.strictObject({ id: InviteId, object: z.literal('organization.invite.deleted'), deleted: z.literal(true) }),
  faults: ['not_found', 'invalid_state_transition'],
})

export const inviteOperations = [listInvites, createInvite, retrieveInvite, deleteInvite] as const
