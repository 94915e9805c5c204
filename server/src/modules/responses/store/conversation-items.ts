import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { itemRows } from './item-rows.ts'
import type { ResponsesTables } from './tables.ts'

export interface ConversationHistory {
  readonly items: StoredItem[]
  /** Of the conversation as it was read. */
  readonly version: number
}

const items = statement<[string, string], { item: StoredItem | null; version: number }>(
  'responses.conversation-items',
  `select i.item, c.version from responses.conversation c
   left join responses.conversation_item i on i.conversation_id = c.id
   where c.id = $1 and c.project_id = $2 order by i.position`,
)

/** Everything said in a conversation, oldest first. Null when the project has no such conversation. */
export async function findConversationItems(
  db: Db<ResponsesTables>,
  projectId: string,
  id: string,
): Promise<ConversationHistory | null> {
  const rows = await db.run(items, [id, projectId])
  const [first] = rows
  if (first === undefined) return null
  return { items: rows.flatMap(({ item }) => (item === null ? [] : [item])), version: first.version }
}

/** Adds items at the end. An item that is in the conversation already is replaced where it is, and not added. */
export async function appendConversationItems(tx: Tx, id: string, given: readonly StoredItem[]): Promise<void> {
  if (given.length === 0) return
  // Of two with one id the later counts, in the place of the first.
  const added = [...new Map(given.map((item) => [item.id, item])).values()]
  await sql`
    insert into responses.conversation_item (conversation_id, position, id, item)
    select ${id}, (select coalesce(max(position) + 1, 0) from responses.conversation_item where conversation_id = ${id}) + n - 1,
      i ->> 'id', (i ->> 'item')::json
    from json_array_elements(${itemRows(added)}::json) with ordinality as given (i, n)
    on conflict (conversation_id, id) do update set item = excluded.item`.execute(own<ResponsesTables>(tx))
}

/** Calls whose answers name them by their id. */
export async function listLocalShellCalls(tx: Tx, id: string): Promise<StoredItem[]> {
  const { rows } = await sql<{ item: StoredItem }>`
    select item from responses.conversation_item
    where conversation_id = ${id} and position('"local_shell_call"' in item::text) > 0 order by position`.execute(
    own<ResponsesTables>(tx),
  )
  return rows.map(({ item }) => item).filter(({ type }) => type === 'local_shell_call')
}

/** Which of these ids a conversation has already. */
export async function findTakenIds(tx: Tx, id: string, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from responses.conversation_item where conversation_id = ${id} and id = any(${ids}::text[])`.execute(
    own<ResponsesTables>(tx),
  )
  return new Set(rows.map((row) => row.id))
}

const find = statement<[string, string], { item: StoredItem }>(
  'responses.find-conversation-item',
  `select item from responses.conversation_item where conversation_id = $1 and id = $2`,
)

export async function findConversationItem(
  db: Db<ResponsesTables>,
  conversationId: string,
  id: string,
): Promise<StoredItem | null> {
  const [row] = await db.run(find, [conversationId, id])
  return row?.item ?? null
}

/** Returns whether it was there. */
export async function deleteConversationItem(tx: Tx, conversationId: string, id: string): Promise<boolean> {
  const gone = await own<ResponsesTables>(tx)
    .deleteFrom('responses.conversation_item')
    .where('conversation_id', '=', conversationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return gone.numDeletedRows > 0n
}

export interface ItemsPage {
  after: string | undefined
  limit: number
  order: 'asc' | 'desc'
}

type PageParams = [string, number, string]

const pageStatement = (order: 'asc' | 'desc', past: '<' | '>') => ({
  first: statement<[string, number], { item: StoredItem }>(
    `responses.conversation-page-${order}`,
    `select item from responses.conversation_item where conversation_id = $1 order by position ${order} limit $2`,
  ),
  next: statement<PageParams, { item: StoredItem }>(
    `responses.conversation-page-${order}-after`,
    `select item from responses.conversation_item
     where conversation_id = $1
       and position ${past} (select position from responses.conversation_item where conversation_id = $1 and id = $3)
     order by position ${order} limit $2`,
  ),
})

const pages = { asc: pageStatement('asc', '>'), desc: pageStatement('desc', '<') }

/** One row more than asked for says that there is another page. */
export async function listConversationItems(
  db: Db<ResponsesTables>,
  conversationId: string,
  { after, limit, order }: ItemsPage,
): Promise<StoredItem[]> {
  const rows =
    after === undefined
      ? await db.run(pages[order].first, [conversationId, limit + 1])
      : await db.run(pages[order].next, [conversationId, limit + 1, after])
  return rows.map(({ item }) => item)
}
