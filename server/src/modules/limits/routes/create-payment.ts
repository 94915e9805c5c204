import type { PaymentId } from '@switchyard/contracts/ids.ts'
import { createPayment } from '@switchyard/contracts/organization/payments.ts'
import { actorOf } from '#modules/orgs/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { paymentCreated } from '../domain/audit-events.ts'
import { paymentView } from '../domain/payment-view.ts'
import { evaluateTier, type TierUses } from '../steps/evaluate-tier.ts'
import { insertPayment } from '../store/payments.ts'

/** The tier follows in the same transaction: nobody sees a payment without what it earned. */
export const createPaymentRoute = (use: TierUses) =>
  route(createPayment, async (context) => {
    const { orgId } = context.scope
    const { amount, currency, reference } = context.body
    return await context.commit(async (tx) => {
      const payment = await insertPayment(tx, {
        id: newId<PaymentId>('pay_'),
        org_id: orgId,
        amount_cents: Math.round(amount * 100),
        currency,
        reference,
      })
      if (payment === null) {
        throw new Fault('already_exists', 'A payment with this reference is recorded already.', { param: 'reference' })
      }
      const actor = actorOf(context)
      const view = paymentView(payment)
      await use.orgs.recordAudit(tx, orgId, actor, paymentCreated(view))
      await evaluateTier(use, tx, orgId, actor)
      return view
    })
  })
