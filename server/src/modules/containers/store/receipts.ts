import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { ContainersTables } from './tables.ts'

export interface ReceiptRow {
  id: string
  container_id: string
  at: Date
  host: string
  port: number
  verdict: string
  reason: string | null
  bytes_in: number
  bytes_out: number
}

export async function insertReceipts(db: Db<ContainersTables>, rows: readonly ReceiptRow[]): Promise<void> {
  if (rows.length === 0) return
  await db.kysely
    .insertInto('containers.egress_receipt')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const listText = (
  order: 'asc' | 'desc',
) => `select id, container_id, at, host, port, verdict, reason, bytes_in, bytes_out
  from containers.egress_receipt
  where container_id = $1 and ($3::text is null or id ${order === 'desc' ? '<' : '>'} $3)
  order by id ${order} limit $2`

const lists = {
  asc: statement<[string, number, string | null], ReceiptRow>('containers.receipts-asc', listText('asc')),
  desc: statement<[string, number, string | null], ReceiptRow>('containers.receipts-desc', listText('desc')),
}

export async function listReceipts(
  db: Db<ContainersTables>,
  containerId: string,
  page: { after: string | undefined; limit: number; order: 'asc' | 'desc' },
): Promise<ReceiptRow[]> {
  return await db.run(lists[page.order], [containerId, page.limit + 1, page.after ?? null])
}

const cursor = statement<[string, string], { id: string }>(
  'containers.receipt-cursor',
  'select id from containers.egress_receipt where id = $1 and container_id = $2',
)

export async function isReceiptCursor(db: Db<ContainersTables>, containerId: string, id: string): Promise<boolean> {
  return (await db.run(cursor, [id, containerId])).length > 0
}
