import { z } from 'zod'
import { operation } from '../operation.ts'
import { Money } from './money.ts'
import { ApiSource, group, texts, usagePage, usageQuery } from './usage-query.ts'

const costDaysDefault = 7
const costDaysMax = 180

export const Cost = z.strictObject({
  object: z.literal('organization.costs.result'),
  amount: Money,
  /** The model. */
  line_item: group,
  project_id: group,
  user_id: group,
  api_key_id: group,
  api_source: ApiSource,
  quantity: z.null(),
  quantity_unit: z.null(),
})
export type Cost = z.infer<typeof Cost>

export const retrieveCosts = operation({
  id: 'admin.organization.usage.costs',
  method: 'GET',
  path: '/v1/organization/costs',
  summary: 'Read what the organisation spent, day by day.',
  auth: 'admin_key',
  scope: 'organization.usage.read',
  query: usageQuery(['project_id', 'user_id', 'line_item', 'api_key_id', 'api_source']).extend({
    bucket_width: z.literal('1d').default('1d'),
    limit: z.coerce.number().int().min(1).max(costDaysMax).default(costDaysDefault),
    api_key_ids: texts,
    line_items: texts,
  }),
  reply: usagePage(Cost),
})

export const costOperations = [retrieveCosts] as const
