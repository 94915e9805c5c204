import type { conversationOperations } from '@switchyard/contracts/conversations.ts'
import { newConversation, newItem } from '../examples/conversations.ts'
import { newQueued } from '../examples/responses.ts'
import type { Place } from '../place.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'

const none = { params: { conversation_id: 'conv_none' }, param: 'conversation_id' }
const noConversation: FaultCase = async () => none

const noItem: FaultCase = async (at) => ({
  params: { conversation_id: (await newConversation(at)).id, item_id: 'msg_none' },
  param: 'item_id',
})

const items = [{ type: 'message', role: 'user', content: 'Hello.' }]
const foreignSummary = { items: [{ type: 'compaction', encrypted_content: 'made up' }] }

/** A response is under way in it. */
async function busy(at: Place): Promise<{ conversation_id: string; item_id: string }> {
  const params = await newItem(at)
  await newQueued(at, { conversation: params.conversation_id })
  return params
}

const locked = (body?: Record<string, unknown>): FaultCase => {
  return async (at) => ({ params: await busy(at), ...(body && { body }), param: 'conversation_id' })
}

export const conversationFaults: FaultCases<typeof conversationOperations> = {
  'conversations.create': {
    not_found: async () => ({ body: { items: [{ type: 'item_reference', id: 'msg_none' }] }, param: 'items[0].id' }),
    invalid_encrypted_content: async () => ({ body: foreignSummary, param: 'items' }),
  },
  'conversations.retrieve': { not_found: noConversation },
  'conversations.update': { not_found: async () => ({ ...none, body: { metadata: {} } }) },
  'conversations.delete': { not_found: noConversation, conversation_locked: locked() },
  'conversations.items.create': {
    not_found: async () => ({ ...none, body: { items } }),
    conversation_locked: locked({ items }),
    invalid_encrypted_content: async (at) => ({
      params: { conversation_id: (await newConversation(at)).id },
      body: foreignSummary,
      param: 'items',
    }),
  },
  'conversations.items.list': { not_found: noConversation },
  'conversations.items.retrieve': { not_found: noItem },
  'conversations.items.delete': { not_found: noItem, conversation_locked: locked() },
}
