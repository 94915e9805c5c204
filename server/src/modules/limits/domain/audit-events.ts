import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Payment } from '@switchyard/contracts/organization/payments.ts'
import type { AuditEvent } from '#modules/orgs/index.ts'
import { wireNames, type RateLimitChanges, type WireName } from './project-rate-limit.ts'
import type { GroupLimits, Tier } from './tiers.ts'

export const paymentCreated = ({ id, amount, currency, reference }: Payment): AuditEvent => ({
  type: 'payment.created',
  resourceId: id,
  details: { id, data: { amount, currency, reference } },
})

export const usageTierUpdated = (
  id: OrgId,
  change: { readonly previous_tier: Tier; readonly tier: Tier },
  pinned: boolean,
): AuditEvent => ({ type: 'usage_tier.updated', resourceId: id, details: { id, ...change, pinned } })

interface SpendLimitPlace {
  readonly orgId: OrgId
  readonly projectId: ProjectId | null
}

export function spendLimitSaved(place: SpendLimitPlace, thresholdCents: number, created: boolean): AuditEvent {
  const id = place.projectId ?? place.orgId
  const limit = { threshold_amount: thresholdCents, currency: 'USD', interval: 'month' }
  const at = { resourceId: id, projectId: place.projectId }
  return created
    ? { type: 'spend_limit.created', ...at, details: { id, data: limit } }
    : { type: 'spend_limit.updated', ...at, details: { id, changes_requested: limit } }
}

export function spendLimitDeleted({ orgId, projectId }: SpendLimitPlace): AuditEvent {
  const id = projectId ?? orgId
  return { type: 'spend_limit.deleted', resourceId: id, projectId, details: { id } }
}

/** Numbers that are set are an update; those given back to the organisation are deleted, where there were any. */
export function rateLimitEvents(
  { id, projectId }: { readonly id: string; readonly projectId: ProjectId },
  changes: RateLimitChanges,
  before: Partial<GroupLimits>,
): AuditEvent[] {
  const fields = Object.entries(changes) as [WireName, number | null | undefined][]
  const set = fields.filter(([, value]) => typeof value === 'number')
  const returned = fields
    .filter(([field, value]) => value === null && typeof before[wireNames[field]] === 'number')
    .map(([field]) => field)
  const at = { resourceId: id, projectId }
  const events: AuditEvent[] = []
  if (set.length > 0) {
    events.push({ type: 'rate_limit.updated', ...at, details: { id, changes_requested: Object.fromEntries(set) } })
  }
  if (returned.length > 0) events.push({ type: 'rate_limit.deleted', ...at, details: { id, fields: returned } })
  return events
}
