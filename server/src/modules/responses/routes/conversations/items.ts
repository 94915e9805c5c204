import {
  createConversationItems,
  deleteConversationItem,
  listConversationItems,
  retrieveConversationItem,
} from '@switchyard/contracts/conversations.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { nameAnswers } from '../../domain/answers.ts'
import { bringItems, sameId, type BringUses } from '../../steps/bring-items.ts'
import * as store from '../../store/conversation-items.ts'
import { touchConversation } from '../../store/conversations.ts'
import type { ResponsesTables } from '../../store/tables.ts'
import { conversationView, getConversation, noSuchItem, takeIdle } from './conversation-view.ts'

interface Uses {
  readonly db: Db<ResponsesTables>
}

export const createConversationItemsRoute = (use: BringUses) =>
  route(createConversationItems, async ({ scope, params, body, commit }) => {
    const { projectId } = scope
    const { conversation_id: id } = params
    await getConversation(use.db, projectId, id)
    const brought = await bringItems(use, projectId, body.items)
    return await commit(async (tx) => {
      await takeIdle(tx, projectId, id)
      const answers = brought.some((item) => item.type === 'local_shell_call_output')
      const items = nameAnswers(answers ? await store.listLocalShellCalls(tx, id) : [], brought)
      await refuseTaken(tx, id, items)
      await touchConversation(tx, id)
      await store.appendConversationItems(tx, id, items)
      return pageView(items, items.length, (item) => item)
    })
  })

async function refuseTaken(tx: Tx, id: string, items: readonly StoredItem[]): Promise<void> {
  const ids = items.map((item) => item.id)
  const taken = await store.findTakenIds(tx, id, ids)
  const index = ids.findIndex((one) => taken.has(one))
  if (index >= 0) throw sameId(index)
}

export const listConversationItemsRoute = (use: Uses) =>
  route(listConversationItems, async ({ scope, params, query }) => {
    const { id } = await getConversation(use.db, scope.projectId, params.conversation_id)
    if (query.after !== undefined && (await store.findConversationItem(use.db, id, query.after)) === null) {
      throw new Fault('invalid_value', 'No item with the id given in after.', { param: 'after' })
    }
    const { after, limit, order } = query
    const items = await store.listConversationItems(use.db, id, { after, limit, order })
    return pageView(items, limit, (item) => item)
  })

export const retrieveConversationItemRoute = (use: Uses) =>
  route(retrieveConversationItem, async ({ scope, params }) => {
    const { id } = await getConversation(use.db, scope.projectId, params.conversation_id)
    const item = await store.findConversationItem(use.db, id, params.item_id)
    if (item === null) throw noSuchItem()
    return item
  })

export const deleteConversationItemRoute = (use: Uses) =>
  route(deleteConversationItem, async ({ scope, params }) => {
    const row = await use.db.tx(async (tx) => {
      const taken = await takeIdle(tx, scope.projectId, params.conversation_id)
      if (!(await store.deleteConversationItem(tx, taken.id, params.item_id))) throw noSuchItem()
      await touchConversation(tx, taken.id)
      return taken
    })
    return conversationView(row)
  })
