import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { ResponsesTables } from './tables.ts'

const items = statement<[string, string], { item: StoredItem | null }>(
  'responses.conversation-items',
  `select i.item from responses.conversation c left join responses.conversation_item i on i.conversation_id = c.id
   where c.id = $1 and c.project_id = $2 order by i.position`,
)

/** Everything said in a conversation, oldest first. Null when the project has no such conversation. */
export async function findConversationItems(
  db: Db<ResponsesTables>,
  projectId: string,
  id: string,
): Promise<StoredItem[] | null> {
  const rows = await db.run(items, [id, projectId])
  if (rows.length === 0) return null
  return rows.flatMap(({ item }) => (item === null ? [] : [item]))
}

/** Adds items at the end. An item that is in the conversation already is replaced where it is, and not added. */
export async function appendConversationItems(tx: Tx, id: string, added: readonly StoredItem[]): Promise<void> {
  if (added.length === 0) return
  await sql`
    insert into responses.conversation_item (conversation_id, position, id, item)
    select ${id}, (select coalesce(max(position) + 1, 0) from responses.conversation_item where conversation_id = ${id}) + n - 1,
      i ->> 'id', i
    from json_array_elements(${JSON.stringify(added)}::json) with ordinality as given (i, n)
    on conflict (conversation_id, id) do update set item = excluded.item`.execute(own<ResponsesTables>(tx))
}
