import type { Conversation } from '@switchyard/contracts/conversations.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { conversationLocked } from '../../steps/foreground.ts'
import { findConversation, takeConversation, type ConversationRow } from '../../store/conversations.ts'
import type { ResponsesTables } from '../../store/tables.ts'

export function conversationView({ id, created_at, metadata }: ConversationRow): Conversation {
  return { id, object: 'conversation', created_at: Math.floor(created_at.getTime() / 1_000), metadata }
}

export const noSuchConversation = () => new Fault('not_found', 'No such conversation.', { param: 'conversation_id' })
export const noSuchItem = () => new Fault('not_found', 'No such item in this conversation.', { param: 'item_id' })

export async function getConversation(
  db: Db<ResponsesTables>,
  projectId: string,
  id: string,
): Promise<ConversationRow> {
  const row = await findConversation(db, projectId, id)
  if (row === null) throw noSuchConversation()
  return row
}

/** For a change of its items: refused while a response is under way in it. */
export async function takeIdle(tx: Tx, projectId: string, id: string): Promise<ConversationRow> {
  const taken = await takeConversation(tx, projectId, id)
  if (taken === null) throw noSuchConversation()
  if (taken.busy) throw conversationLocked('conversation_id')
  return taken
}
