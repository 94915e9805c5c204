import { listPayments } from '@switchyard/contracts/organization/payments.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { paymentView } from '../domain/payment-view.ts'
import * as store from '../store/payments.ts'
import type { LimitsRouteUses } from './use.ts'

export const listPaymentsRoute = (use: Pick<LimitsRouteUses, 'db'>) =>
  route(listPayments, async ({ scope: { orgId }, query: { after, limit } }) => {
    if (after !== undefined && !(await store.isPaymentCursor(use.db.kysely, orgId, after))) {
      throw new Fault('invalid_value', 'Nothing has the id given in after.', { param: 'after' })
    }
    return pageView(await store.listPayments(use.db.kysely, orgId, { after, limit }), limit, paymentView)
  })
