import { pageView } from '@switchyard/contracts/page.ts'
import {
  deleteChatCompletion,
  listChatCompletions,
  listChatMessages,
  retrieveChatCompletion,
  updateChatCompletion,
} from '@switchyard/contracts/stored-completions.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import type { Catalogue } from '../domain/catalogue.ts'
import { storedCompletionView, storedMessageViews } from '../domain/stored-completion.ts'
import * as store from '../store/completions.ts'
import type { InferenceTables } from '../store/tables.ts'

interface Uses {
  readonly db: Db<InferenceTables>
  readonly catalogue: Catalogue
}

const noSuchCompletion = () => new Fault('not_found', 'No such chat completion is stored.', { param: 'completion_id' })

export const listChatCompletionsRoute = (use: Uses) =>
  route(listChatCompletions, async ({ scope, query }) => {
    const { after, limit, order, metadata } = query
    if (after !== undefined && (await store.findCompletion(use.db, scope.projectId, after)) === null) {
      throw new Fault('invalid_value', 'No chat completion with the id given in after.', { param: 'after' })
    }
    // An alias stands for what it means now; a model that has left the catalogue is known by its old name.
    const model = query.model === undefined ? null : (use.catalogue.find(query.model)?.id ?? query.model)
    const filter = { model, metadata: metadata ?? null }
    const { rows, more } = await store.listCompletions(use.db, scope.projectId, filter, {
      after: after ?? null,
      limit,
      order,
    })
    return { ...pageView(rows, limit, storedCompletionView), has_more: more }
  })

export const retrieveChatCompletionRoute = (use: Uses) =>
  route(retrieveChatCompletion, async ({ scope, params }) => {
    const kept = await store.findCompletion(use.db, scope.projectId, params.completion_id)
    if (kept === null) throw noSuchCompletion()
    return storedCompletionView(kept)
  })

export const updateChatCompletionRoute = (use: Uses) =>
  route(updateChatCompletion, async ({ scope, params, body }) => {
    const kept = await store.updateMetadata(use.db, scope.projectId, params.completion_id, body.metadata ?? {})
    if (kept === null) throw noSuchCompletion()
    return storedCompletionView(kept)
  })

export const deleteChatCompletionRoute = (use: Uses) =>
  route(deleteChatCompletion, async ({ scope, params }) => {
    const { completion_id: id } = params
    if (!(await store.deleteCompletion(use.db, scope.projectId, id))) throw noSuchCompletion()
    return { id, object: 'chat.completion.deleted' as const, deleted: true as const }
  })

export const listChatMessagesRoute = (use: Uses) =>
  route(listChatMessages, async ({ scope, params, query }) => {
    const { completion_id: id } = params
    const given = await store.findMessages(use.db, scope.projectId, id)
    if (given === null) throw noSuchCompletion()
    // Bounded by the size of a request, so they are paged here and not in the store.
    const messages = storedMessageViews(id, given)
    if (query.order === 'desc') messages.reverse()
    const at = query.after === undefined ? -1 : messages.findIndex((message) => message.id === query.after)
    if (query.after !== undefined && at < 0) {
      throw new Fault('invalid_value', 'No message with the id given in after.', { param: 'after' })
    }
    return pageView(messages.slice(at + 1, at + 2 + query.limit), query.limit, (message) => message)
  })
