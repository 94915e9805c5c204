import { z } from 'zod'
import { OrgId } from '../ids.ts'
import { operation } from '../operation.ts'
import { Name, timestamp } from './shared.ts'

export const Organization = z.strictObject({
  id: OrgId,
  object: z.literal('organization'),
  name: z.string(),
  region: z.string().nullable(),
  created_at: timestamp,
})
export type Organization = z.infer<typeof Organization>

export const retrieveOrganization = operation({
  id: 'admin.organization.retrieve',
  method: 'GET',
  path: '/v1/organization',
  summary: 'Read the organisation that the key belongs to.',
  auth: 'admin_key',
  scope: 'organization.read',
  reply: Organization,
})

export const updateOrganization = operation({
  id: 'admin.organization.update',
  method: 'POST',
  path: '/v1/organization',
  summary: 'Rename the organisation.',
  auth: 'admin_key',
  scope: 'organization.write',
  body: z.strictObject({ name: Name.optional() }),
  reply: Organization,
})

export const organizationItselfOperations = [retrieveOrganization, updateOrganization] as const
