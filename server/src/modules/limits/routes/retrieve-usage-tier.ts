import { retrieveUsageTier } from '@switchyard/contracts/organization/usage-tier.ts'
import { route } from '#platform/http/route.ts'
import { usageTierView } from '../domain/usage-tier-view.ts'
import { readSpent } from '../steps/read-spent.ts'
import { readStanding } from '../steps/read-tier.ts'
import { sumPayments } from '../store/payments.ts'
import type { LimitsRouteUses } from './use.ts'

export const retrieveUsageTierRoute = (use: LimitsRouteUses) =>
  route(retrieveUsageTier, async ({ scope: { orgId } }) =>
    usageTierView(use.book, {
      standing: await readStanding(use, orgId),
      paidCents: await sumPayments(use.db.kysely, orgId),
      spentNanos: await readSpent(use, orgId, null),
    }),
  )
