import { z } from 'zod'
import { ProjectId, UserId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { projectParams } from './projects.ts'
import { Email, ProjectRole, timestamp } from './shared.ts'

export const ProjectUser = z.strictObject({
  id: UserId,
  object: z.literal('organization.project.user'),
  name: z.string(),
  email: z.string(),
  role: ProjectRole,
  added_at: timestamp,
})
export type ProjectUser = z.infer<typeof ProjectUser>

const projectUserParams = z.strictObject({ project_id: ProjectId, user_id: UserId })

export const listProjectUsers = operation({
  id: 'admin.organization.projects.users.list',
  method: 'GET',
  path: '/v1/organization/projects/{project_id}/users',
  summary: 'List the members of a project.',
  auth: 'admin_key',
  scope: 'organization.project_users.read',
  params: projectParams,
  query: pageQuery(),
  reply: pageOf(ProjectUser),
  faults: ['not_found'],
})

export const createProjectUser = operation({
  id: 'admin.organization.projects.users.create',
  method: 'POST',
  path: '/v1/organization/projects/{project_id}/users',
  summary: 'Add a member of the organisation, by id or by e-mail address, to a project.',
  auth: 'admin_key',
  scope: 'organization.project_users.write',
  params: projectParams,
  body: z.strictObject({ role: ProjectRole, user_id: UserId.nullish(), email: Email.nullish() }),
  reply: ProjectUser,
  faults: [
    'not_found',
    'invalid_state_transition',
    'already_exists',
    'missing_required_parameter',
    'mutually_exclusive_parameters',
  ],
  creates: true,
})

export const retrieveProjectUser = operation({
  id: 'admin.organization.projects.users.retrieve',
  method: 'GET',
  path: '/v1/organization/projects/{project_id}/users/{user_id}',
  summary: 'Read a member of a project.',
  auth: 'admin_key',
  scope: 'organization.project_users.read',
  params: projectUserParams,
  reply: ProjectUser,
  faults: ['not_found'],
})

export const updateProjectUser = operation({
  id: 'admin.organization.projects.users.update',
  method: 'POST',
  path: '/v1/organization/projects/{project_id}/users/{user_id}',
  summary: 'Change the role of a member of a project.',
  auth: 'admin_key',
  scope: 'organization.project_users.write',
  params: projectUserParams,
  body: z.strictObject({ role: ProjectRole.nullish() }),
  reply: ProjectUser,
  faults: ['not_found', 'invalid_state_transition'],
})

export const deleteProjectUser = operation({
  id: 'admin.organization.projects.users.delete',
  method: 'DELETE',
  path: '/v1/organization/projects/{project_id}/users/{user_id}',
  summary: 'Take a member out of a project; their keys of it stop working while they are out.',
  auth: 'admin_key',
  scope: 'organization.project_users.write',
  params: projectUserParams,
  reply: z.strictObject({
    id: UserId,
    object: z.literal('organization.project.user.deleted'),
    deleted: z.literal(true),
  }),
  faults: ['not_found', 'invalid_state_transition'],
})

export const projectUserOperations = [
  listProjectUsers,
  createProjectUser,
  retrieveProjectUser,
  updateProjectUser,
  deleteProjectUser,
] as const
