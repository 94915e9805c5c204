import {
  createConversation,
  deleteConversation,
  retrieveConversation,
  updateConversation,
} from '@switchyard/contracts/conversations.ts'
import type { Db } from '#platform/db/db.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { nameAnswers } from '../../domain/answers.ts'
import { bringItems, type BringUses } from '../../steps/bring-items.ts'
import { appendConversationItems } from '../../store/conversation-items.ts'
import * as store from '../../store/conversations.ts'
import type { ResponsesTables } from '../../store/tables.ts'
import { conversationView, getConversation, noSuchConversation, takeIdle } from './conversation-view.ts'

interface Uses {
  readonly db: Db<ResponsesTables>
}

export const createConversationRoute = (use: BringUses) =>
  route(createConversation, async ({ scope, body, commit }) => {
    const { projectId } = scope
    const items = await bringItems(use, projectId, body.items ?? [])
    return await commit(async (tx) => {
      const id = newId('conv_')
      const row = await store.insertConversation(tx, { id, projectId, metadata: body.metadata ?? {} })
      await appendConversationItems(tx, id, nameAnswers([], items))
      return conversationView(row)
    })
  })

export const retrieveConversationRoute = (use: Uses) =>
  route(retrieveConversation, async ({ scope, params }) =>
    conversationView(await getConversation(use.db, scope.projectId, params.conversation_id)),
  )

export const updateConversationRoute = (use: Uses) =>
  route(updateConversation, async ({ scope, params, body }) => {
    const row = await use.db.tx((tx) =>
      store.updateConversation(tx, scope.projectId, params.conversation_id, body.metadata ?? {}),
    )
    if (row === null) throw noSuchConversation()
    return conversationView(row)
  })

export const deleteConversationRoute = (use: Uses) =>
  route(deleteConversation, async ({ scope, params }) => {
    const { id } = await use.db.tx(async (tx) => {
      const row = await takeIdle(tx, scope.projectId, params.conversation_id)
      await store.deleteConversation(tx, row.id)
      return row
    })
    return { id, object: 'conversation.deleted' as const, deleted: true as const }
  })
