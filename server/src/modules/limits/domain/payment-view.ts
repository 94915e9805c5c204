import type { PaymentId } from '@switchyard/contracts/ids.ts'
import type { Payment } from '@switchyard/contracts/organization/payments.ts'
import type { PaymentRow } from '../store/payments.ts'

export const paymentView = (row: PaymentRow): Payment => ({
  id: row.id as PaymentId,
  object: 'organization.payment',
  amount: row.amount_cents / 100,
  currency: 'usd',
  reference: row.reference,
  created_at: Math.floor(row.paid_at.getTime() / 1_000),
})
