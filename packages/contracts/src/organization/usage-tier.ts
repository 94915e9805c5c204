import { z } from 'zod'
import { operation } from '../operation.ts'
import { Money } from './money.ts'

const EarnedTier = z.enum(['free', 'tier_1', 'tier_2', 'tier_3', 'tier_4', 'tier_5'])

export const UsageTier = z.strictObject({
  object: z.literal('organization.usage_tier'),
  /** `none`: outside the allowed regions and nothing paid. `unlimited`: set by the operator. */
  tier: z.enum([...EarnedTier.options, 'none', 'unlimited']),
  /** Of a calendar month in UTC; null where there is no limit. */
  monthly_usage_limit: Money.nullable(),
  month_to_date: Money,
  total_paid: Money,
  /** What the next tier asks to have been paid in all; null at the end, and where the operator has set the tier. */
  next_tier: z.strictObject({ tier: EarnedTier, total_paid: Money }).nullable(),
})
export type UsageTier = z.infer<typeof UsageTier>

export const retrieveUsageTier = operation({
  id: 'admin.organization.usage_tier.retrieve',
  method: 'GET',
  path: '/v1/organization/usage_tier',
  summary: 'Read the usage tier, its monthly limit, and how much of it is used.',
  auth: 'admin_key',
  scope: 'organization.usage_tier.read',
  reply: UsageTier,
})

export const usageTierOperations = [retrieveUsageTier] as const
