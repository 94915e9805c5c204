import {
  createConversation,
  createConversationItems,
  type conversationOperations,
} from '@switchyard/contracts/conversations.ts'
import type { MakeExample } from '../example.ts'
import { make, type Place } from '../place.ts'
import { newFile } from './files.ts'
import { newResponse } from './responses.ts'

export const newConversation = (at: Place) => make(at, createConversation)

const message = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] }

export async function newItem(at: Place): Promise<{ conversation_id: string; item_id: string }> {
  const { id } = await newConversation(at)
  const params = { conversation_id: id }
  const { data } = await make(at, createConversationItems, { params, body: { items: [message] } })
  return { conversation_id: id, item_id: data[0]?.id ?? '' }
}

async function items(at: Place): Promise<Record<string, unknown>> {
  const { output } = await newResponse(at)
  const file = { type: 'input_file', file_id: (await newFile(at)).id }
  return {
    items: [
      { type: 'item_reference', id: output[0]?.id },
      { ...message, content: [file] },
    ],
  }
}

const references = ['body.items.0.id', 'body.items.1.content.0.file_id']
const conversationParams = async (at: Place) => ({ conversation_id: (await newConversation(at)).id })

export const conversationExamples: Record<(typeof conversationOperations)[number]['id'], MakeExample> = {
  'conversations.create': async (at) => ({ body: await items(at), references }),
  'conversations.retrieve': async (at) => ({ params: await conversationParams(at) }),
  'conversations.update': async (at) => ({ params: await conversationParams(at), body: { metadata: null } }),
  'conversations.delete': async (at) => ({ params: await conversationParams(at) }),
  'conversations.items.create': async (at) => ({
    params: await conversationParams(at),
    body: await items(at),
    references,
  }),
  'conversations.items.list': async (at) => {
    const { item_id, ...params } = await newItem(at)
    return { params, query: { after: item_id, order: 'asc' }, references: ['query.after'] }
  },
  'conversations.items.retrieve': async (at) => ({ params: await newItem(at) }),
  'conversations.items.delete': async (at) => ({ params: await newItem(at) }),
}
