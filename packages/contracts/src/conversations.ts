import { z } from 'zod'
import { ConversationId } from './ids.ts'
import { operation } from './operation.ts'
import { Order, pageOf, pageQuery } from './page.ts'
import { InputItem, StoredItem } from './responses/items.ts'
import { ItemText } from './responses/parts.ts'
import { Includable, Metadata } from './responses/request.ts'

const itemsMax = 20

export const Conversation = z.strictObject({
  id: z.string(),
  object: z.literal('conversation'),
  created_at: z.int(),
  metadata: Metadata,
})
export type Conversation = z.infer<typeof Conversation>

const params = z.object({ conversation_id: ConversationId })
const itemParams = z.object({ conversation_id: ConversationId, item_id: z.string().max(256) })
const include = z.array(Includable).optional()
const shared = { auth: 'project_key' } as const

export const createConversation = operation({
  ...shared,
  id: 'conversations.create',
  method: 'POST',
  path: '/v1/conversations',
  summary: 'Start a conversation, empty or with up to 20 items.',
  scope: 'conversations.write',
  body: z.strictObject({ items: z.array(InputItem).max(itemsMax).nullish(), metadata: Metadata.nullish() }),
  bodyOptional: true,
  reply: Conversation,
  faults: ['not_found', 'invalid_encrypted_content'],
  creates: true,
})

export const retrieveConversation = operation({
  ...shared,
  id: 'conversations.retrieve',
  method: 'GET',
  path: '/v1/conversations/{conversation_id}',
  summary: 'Read a conversation.',
  scope: 'conversations.read',
  params,
  reply: Conversation,
  faults: ['not_found'],
})

export const updateConversation = operation({
  ...shared,
  id: 'conversations.update',
  method: 'POST',
  path: '/v1/conversations/{conversation_id}',
  summary: "Replace a conversation's metadata.",
  scope: 'conversations.write',
  params,
  body: z.strictObject({ metadata: Metadata.nullable() }),
  reply: Conversation,
  faults: ['not_found'],
})

export const deleteConversation = operation({
  ...shared,
  id: 'conversations.delete',
  method: 'DELETE',
  path: '/v1/conversations/{conversation_id}',
  summary: 'Delete a conversation. Responses made in it stay.',
  scope: 'conversations.write',
  params,
  reply: z.strictObject({ id: z.string(), object: z.literal('conversation.deleted'), deleted: z.literal(true) }),
  faults: ['not_found', 'conversation_locked'],
})

export const createConversationItems = operation({
  ...shared,
  id: 'conversations.items.create',
  method: 'POST',
  path: '/v1/conversations/{conversation_id}/items',
  summary: 'Add up to 20 items at the end of a conversation.',
  scope: 'conversations.write',
  params,
  query: z.strictObject({ include }),
  body: z.strictObject({ items: z.array(InputItem).min(1).max(itemsMax) }),
  reply: pageOf(StoredItem),
  faults: ['not_found', 'conversation_locked', 'invalid_encrypted_content'],
  creates: true,
})

export const listConversationItems = operation({
  ...shared,
  id: 'conversations.items.list',
  method: 'GET',
  path: '/v1/conversations/{conversation_id}/items',
  summary: 'List the items of a conversation.',
  scope: 'conversations.read',
  params,
  query: pageQuery().extend({ after: ItemText.optional(), order: Order, include }),
  reply: pageOf(StoredItem),
  faults: ['not_found'],
})

export const retrieveConversationItem = operation({
  ...shared,
  id: 'conversations.items.retrieve',
  method: 'GET',
  path: '/v1/conversations/{conversation_id}/items/{item_id}',
  summary: 'Read one item of a conversation.',
  scope: 'conversations.read',
  params: itemParams,
  query: z.strictObject({ include }),
  reply: StoredItem,
  faults: ['not_found'],
})

export const deleteConversationItem = operation({
  ...shared,
  id: 'conversations.items.delete',
  method: 'DELETE',
  path: '/v1/conversations/{conversation_id}/items/{item_id}',
  summary: 'Remove one item from a conversation.',
  scope: 'conversations.write',
  params: itemParams,
  reply: Conversation,
  faults: ['not_found', 'conversation_locked'],
})

export const conversationOperations = [
  createConversation,
  retrieveConversation,
  updateConversation,
  deleteConversation,
  createConversationItems,
  listConversationItems,
  retrieveConversationItem,
  deleteConversationItem,
] as const
