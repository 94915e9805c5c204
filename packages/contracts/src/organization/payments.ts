import { z } from 'zod'
import { PaymentId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { timestamp } from './shared.ts'

const amountMax = 100_000_000
const referenceMax = 200

export const Payment = z.strictObject({
  id: PaymentId,
  object: z.literal('organization.payment'),
  /** US dollars. */
  amount: z.number(),
  currency: z.literal('usd'),
  reference: z.string(),
  created_at: timestamp,
})
export type Payment = z.infer<typeof Payment>

export const createPayment = operation({
  id: 'admin.organization.payments.create',
  method: 'POST',
  path: '/v1/organization/payments',
  summary: 'Record a payment. The usage tier is evaluated with it.',
  auth: 'admin_key',
  scope: 'organization.payments.write',
  body: z.strictObject({
    /** US dollars and cents. */
    amount: z.number().min(0.01).max(amountMax).multipleOf(0.01),
    currency: z.literal('usd'),
    /** What the payment is called elsewhere; the same one is recorded once. */
    reference: z.string().min(1).max(referenceMax),
  }),
  reply: Payment,
  faults: ['already_exists'],
  creates: true,
})

export const listPayments = operation({
  id: 'admin.organization.payments.list',
  method: 'GET',
  path: '/v1/organization/payments',
  summary: 'List the payments of the organisation, newest first.',
  auth: 'admin_key',
  scope: 'organization.payments.read',
  query: pageQuery(),
  reply: pageOf(Payment),
})

export const paymentOperations = [createPayment, listPayments] as const
