import { z } from 'zod'
import { operation } from '../operation.ts'
import { projectParams } from './projects.ts'

const thresholdCentsMax = 1_000_000_000_000

const spendLimitOf = <Kind extends 'organization' | 'project'>(kind: Kind) =>
  z.strictObject({
    object: z.literal(`${kind}.spend_limit` as const),
    /** Cents. */
    threshold_amount: z.int(),
    currency: z.literal('USD'),
    interval: z.literal('month'),
    /** `enforcing` once the month's spend has reached it and requests are refused. */
    enforcement: z.strictObject({ status: z.enum(['inactive', 'enforcing']) }),
  })

const deletedOf = <Kind extends 'organization' | 'project'>(kind: Kind) =>
  z.strictObject({ object: z.literal(`${kind}.spend_limit.deleted` as const), deleted: z.literal(true) })

export const OrganizationSpendLimit = spendLimitOf('organization')
export const ProjectSpendLimit = spendLimitOf('project')

const body = z.strictObject({
  threshold_amount: z.int().min(1).max(thresholdCentsMax),
  currency: z.literal('USD'),
  interval: z.literal('month'),
})

const readScope = 'organization.spend_limits.read'
const writeScope = 'organization.spend_limits.write'

export const retrieveSpendLimit = operation({
  id: 'admin.organization.spend_limit.retrieve',
  method: 'GET',
  path: '/v1/organization/spend_limit',
  summary: 'Read the monthly limit that the organisation has set itself.',
  auth: 'admin_key',
  scope: readScope,
  reply: OrganizationSpendLimit,
  faults: ['not_found'],
})

export const updateSpendLimit = operation({
  id: 'admin.organization.spend_limit.update',
  method: 'POST',
  path: '/v1/organization/spend_limit',
  summary: 'Set or replace a monthly limit of the organisation. The lower of it and that of the tier counts.',
  auth: 'admin_key',
  scope: writeScope,
  body,
  reply: OrganizationSpendLimit,
})

export const deleteSpendLimit = operation({
  id: 'admin.organization.spend_limit.delete',
  method: 'DELETE',
  path: '/v1/organization/spend_limit',
  summary: 'Take the monthly limit of the organisation away.',
  auth: 'admin_key',
  scope: writeScope,
  reply: deletedOf('organization'),
  faults: ['not_found'],
})

export const retrieveProjectSpendLimit = operation({
  id: 'admin.organization.projects.spend_limit.retrieve',
  method: 'GET',
  path: '/v1/organization/projects/{project_id}/spend_limit',
  summary: 'Read the monthly limit of a project.',
  auth: 'admin_key',
  scope: readScope,
  params: projectParams,
  reply: ProjectSpendLimit,
  faults: ['not_found'],
})

export const updateProjectSpendLimit = operation({
  id: 'admin.organization.projects.spend_limit.update',
  method: 'POST',
  path: '/v1/organization/projects/{project_id}/spend_limit',
  summary: 'Set or replace a monthly limit of a project.',
  auth: 'admin_key',
  scope: writeScope,
  params: projectParams,
  body,
  reply: ProjectSpendLimit,
  faults: ['not_found', 'invalid_state_transition'],
})

export const deleteProjectSpendLimit = operation({
  id: 'admin.organization.projects.spend_limit.delete',
  method: 'DELETE',
  path: '/v1/organization/projects/{project_id}/spend_limit',
  summary: 'Take the monthly limit of a project away.',
  auth: 'admin_key',
  scope: writeScope,
  params: projectParams,
  reply: deletedOf('project'),
  faults: ['not_found'],
})

export const spendLimitOperations = [
  retrieveSpendLimit,
  updateSpendLimit,
  deleteSpendLimit,
  retrieveProjectSpendLimit,
  updateProjectSpendLimit,
  deleteProjectSpendLimit,
] as const
