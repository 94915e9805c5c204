import type { OrgId, PaymentId } from '@switchyard/contracts/ids.ts'
import type { Kysely } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import type { LimitsTables } from './tables.ts'

export interface PaymentRow {
  id: string
  amount_cents: number
  currency: string
  reference: string
  paid_at: Date
}

const columns = ['id', 'amount_cents', 'currency', 'reference', 'paid_at'] as const

/** Null when the organisation has a payment of this reference already. */
export async function insertPayment(
  tx: Tx,
  payment: { id: PaymentId; org_id: OrgId; amount_cents: number; currency: string; reference: string },
): Promise<PaymentRow | null> {
  const row = await own<LimitsTables>(tx)
    .insertInto('limits.payment')
    .values(payment)
    .onConflict((conflict) => conflict.columns(['org_id', 'reference']).doNothing())
    .returning(columns)
    .executeTakeFirst()
  return row ?? null
}

export async function sumPayments(limits: Kysely<LimitsTables>, orgId: OrgId): Promise<number> {
  const { paid } = await limits
    .selectFrom('limits.payment')
    .select(({ fn }) => fn.sum<number | null>('amount_cents').as('paid'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return paid ?? 0
}

/** Payments are never removed, so an unknown cursor never was one. */
export async function isPaymentCursor(limits: Kysely<LimitsTables>, orgId: OrgId, id: string): Promise<boolean> {
  const row = await limits
    .selectFrom('limits.payment')
    .select('id')
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return row !== undefined
}

/** Newest first. */
export async function listPayments(
  limits: Kysely<LimitsTables>,
  orgId: OrgId,
  page: { after?: string | undefined; limit: number },
): Promise<PaymentRow[]> {
  const { after } = page
  return await limits
    .selectFrom('limits.payment')
    .select(columns)
    .where('org_id', '=', orgId)
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute()
}
