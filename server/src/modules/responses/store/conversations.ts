import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { ResponsesTables } from './tables.ts'

export interface ConversationRow {
  id: string
  created_at: Date
  metadata: Record<string, string>
}

export async function insertConversation(
  tx: Tx,
  conversation: { id: string; projectId: string; metadata: Readonly<Record<string, string>> },
): Promise<ConversationRow> {
  const { rows } = await sql<ConversationRow>`
    insert into responses.conversation (id, project_id, metadata)
    values (${conversation.id}, ${conversation.projectId}, ${JSON.stringify(conversation.metadata)})
    returning id, created_at, metadata`.execute(own<ResponsesTables>(tx))
  const [row] = rows
  if (row === undefined) throw new Error('an insert returns its row')
  return row
}

const find = statement<[string, string], ConversationRow>(
  'responses.find-conversation',
  `select id, created_at, metadata from responses.conversation where id = $1 and project_id = $2`,
)

export async function findConversation(
  db: Db<ResponsesTables>,
  projectId: string,
  id: string,
): Promise<ConversationRow | null> {
  const [row] = await db.run(find, [id, projectId])
  return row ?? null
}

export async function updateConversation(
  tx: Tx,
  projectId: string,
  id: string,
  metadata: Readonly<Record<string, string>>,
): Promise<ConversationRow | null> {
  const { rows } = await sql<ConversationRow>`
    update responses.conversation set metadata = ${JSON.stringify(metadata)}
    where id = ${id} and project_id = ${projectId} returning id, created_at, metadata`.execute(own<ResponsesTables>(tx))
  return rows[0] ?? null
}

/**
 * Takes a conversation for a change of its items, with whether a response is under way in it. Who begins a response
 * holds the same row (`insertResponse`), and who ends one takes it before the row of `running`: always in this order.
 */
export async function takeConversation(
  tx: Tx,
  projectId: string,
  id: string,
): Promise<(ConversationRow & { busy: boolean }) | null> {
  const tables = own<ResponsesTables>(tx)
  const { rows } = await sql<ConversationRow>`
    select id, created_at, metadata from responses.conversation
    where id = ${id} and project_id = ${projectId} for update`.execute(tables)
  const [row] = rows
  if (row === undefined) return null
  // A statement of its own: it sees what was committed while the row was waited for.
  const running = await sql`select 1 from responses.running where conversation_id = ${id}`.execute(tables)
  return { ...row, busy: running.rows.length > 0 }
}

/** Of a conversation that was taken. */
export async function deleteConversation(tx: Tx, id: string): Promise<void> {
  const tables = own<ResponsesTables>(tx)
  await tables.deleteFrom('responses.conversation_item').where('conversation_id', '=', id).execute()
  await tables.deleteFrom('responses.conversation').where('id', '=', id).execute()
}

/** Says that the items of a conversation change in this transaction. Nobody begins a response in it meanwhile. */
export async function touchConversation(tx: Tx, id: string): Promise<void> {
  await sql`update responses.conversation set version = version + 1 where id = ${id}`.execute(own<ResponsesTables>(tx))
}
