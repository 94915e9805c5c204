import { z } from 'zod'
import { ProjectId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { Name, QueryFlag, timestamp } from './shared.ts'

const geographyMax = 64
const externalKeyIdMax = 96

export const ProjectResidency = z.enum([
  'GLOBAL',
  'US_STORAGE_PROCESSING',
  'EU_STORAGE_PROCESSING',
  'JP_STORAGE',
  'JP_STORAGE_PROCESSING',
  'KR_STORAGE',
  'CA_STORAGE',
  'SG_STORAGE',
  'IN_STORAGE',
  'IN_STORAGE_PROCESSING',
  'AU_STORAGE',
  'AU_STORAGE_PROCESSING',
  'GB_STORAGE',
  'AE_STORAGE',
  'AE_STORAGE_PROCESSING',
])

export const Project = z.strictObject({
  id: ProjectId,
  object: z.literal('organization.project'),
  name: z.string(),
  created_at: timestamp,
  archived_at: timestamp.nullable(),
  status: z.enum(['active', 'archived']),
  residency: z.literal('GLOBAL'),
  external_key_id: z.null(),
})
export type Project = z.infer<typeof Project>

export const projectParams = z.strictObject({ project_id: ProjectId })

export const listProjects = operation({
  id: 'admin.organization.projects.list',
  method: 'GET',
  path: '/v1/organization/projects',
  summary: 'List the projects, newest first; archived ones only when asked for.',
  auth: 'admin_key',
  scope: 'organization.projects.read',
  query: pageQuery().extend({ include_archived: QueryFlag }),
  reply: pageOf(Project),
})

export const createProject = operation({
  id: 'admin.organization.projects.create',
  method: 'POST',
  path: '/v1/organization/projects',
  summary: 'Create a project.',
  auth: 'admin_key',
  scope: 'organization.projects.write',
  body: z.strictObject({
    name: Name,
    residency: ProjectResidency.nullish(),
    geography: z.string().max(geographyMax).nullish(),
    external_key_id: z.string().max(externalKeyIdMax).nullish(),
  }),
  reply: Project,
  faults: ['unsupported_value', 'mutually_exclusive_parameters'],
  creates: true,
})

export const retrieveProject = operation({
  id: 'admin.organization.projects.retrieve',
  method: 'GET',
  path: '/v1/organization/projects/{project_id}',
  summary: 'Read a project.',
  auth: 'admin_key',
  scope: 'organization.projects.read',
  params: projectParams,
  reply: Project,
  faults: ['not_found'],
})

export const updateProject = operation({
  id: 'admin.organization.projects.update',
  method: 'POST',
  path: '/v1/organization/projects/{project_id}',
  summary: 'Rename a project that is not archived.',
  auth: 'admin_key',
  scope: 'organization.projects.write',
  params: projectParams,
  body: z.strictObject({
    name: Name.nullish(),
    geography: z.string().max(geographyMax).nullish(),
    external_key_id: z.string().max(externalKeyIdMax).nullish(),
  }),
  reply: Project,
  faults: ['not_found', 'invalid_state_transition', 'unsupported_value'],
})

export const archiveProject = operation({
  id: 'admin.organization.projects.archive',
  method: 'POST',
  path: '/v1/organization/projects/{project_id}/archive',
  summary: 'Archive a project for good; its keys stop working at once.',
  auth: 'admin_key',
  scope: 'organization.projects.write',
  params: projectParams,
  reply: Project,
  faults: ['not_found'],
})

export const projectOperations = [listProjects, createProject, retrieveProject, updateProject, archiveProject] as const
