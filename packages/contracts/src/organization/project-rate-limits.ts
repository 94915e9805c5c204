import { z } from 'zod'
import { ProjectId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { projectParams } from './projects.ts'

const rateLimitIdMax = 160
const limitMax = 1_000_000_000_000
const pageLimit = 100

/** What models of one limit group may use in a project: the organisation's limits, or lower ones of the project. */
export const ProjectRateLimit = z.strictObject({
  id: z.string(),
  object: z.literal('project.rate_limit'),
  /** The limit group: a family of models, or one model with limits of its own. */
  model: z.string(),
  /** Null: no limit. Other limits are left out where there is none. */
  max_requests_per_1_minute: z.int().nullable(),
  max_tokens_per_1_minute: z.int().nullable(),
  max_images_per_1_minute: z.int().optional(),
  /** Counted as minutes, a megabyte for a minute. */
  max_audio_megabytes_per_1_minute: z.int().optional(),
  max_audio_minutes_per_1_minute: z.int().optional(),
  max_requests_per_1_day: z.int().optional(),
  max_tokens_per_1_day: z.int().optional(),
  batch_1_day_max_input_tokens: z.int().optional(),
})
export type ProjectRateLimit = z.infer<typeof ProjectRateLimit>

export const listProjectRateLimits = operation({
  id: 'admin.organization.projects.rate_limits.list',
  method: 'GET',
  path: '/v1/organization/projects/{project_id}/rate_limits',
  summary: 'List what models may use in a project, one entry for each limit group.',
  auth: 'admin_key',
  scope: 'organization.project_rate_limits.read',
  params: projectParams,
  query: pageQuery({ default: pageLimit, max: pageLimit }).extend({
    before: z.string().max(rateLimitIdMax).optional(),
  }),
  reply: pageOf(ProjectRateLimit),
  faults: ['not_found', 'mutually_exclusive_parameters'],
})

/** Null: as the organisation. */
const limit = z.int().min(1).max(limitMax).nullish()

export const updateProjectRateLimit = operation({
  id: 'admin.organization.projects.rate_limits.update',
  method: 'POST',
  path: '/v1/organization/projects/{project_id}/rate_limits/{rate_limit_id}',
  summary: 'Lower limits of a project; what is left out stays.',
  auth: 'admin_key',
  scope: 'organization.project_rate_limits.write',
  params: z.strictObject({ project_id: ProjectId, rate_limit_id: z.string().max(rateLimitIdMax) }),
  body: z.strictObject({
    max_requests_per_1_minute: limit,
    max_tokens_per_1_minute: limit,
    max_images_per_1_minute: limit,
    max_audio_megabytes_per_1_minute: limit,
    max_audio_minutes_per_1_minute: limit,
    max_requests_per_1_day: limit,
    max_tokens_per_1_day: limit,
    batch_1_day_max_input_tokens: limit,
  }),
  reply: ProjectRateLimit,
  faults: ['not_found', 'invalid_state_transition', 'invalid_value'],
})

export const projectRateLimitOperations = [listProjectRateLimits, updateProjectRateLimit] as const
