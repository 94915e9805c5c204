import { z } from 'zod'
import { ChatCompletion } from './chat-completions.ts'
import { ChatToolCall } from './chat-messages.ts'
import { ChatCompletionId } from './ids.ts'
import { operation } from './operation.ts'
import { pageOf, pageQuery } from './page.ts'
import { Metadata } from './responses/request.ts'

/** As it was answered, with what it was asked. */
export const StoredChatCompletion = ChatCompletion.extend({
  request_id: z.string(),
  metadata: Metadata,
  tools: z.array(z.unknown()).nullable(),
  tool_choice: z.unknown(),
  response_format: z.unknown(),
  temperature: z.number(),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  seed: z.int().nullable(),
  input_user: z.string().nullable(),
}).meta({ id: 'StoredChatCompletion' })
export type StoredChatCompletion = z.infer<typeof StoredChatCompletion>

export const StoredChatMessage = z
  .strictObject({
    /** Of the completion, and the place of the message, counted from 0. */
    id: z.string(),
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
    /** Its text, also of one that was given in parts. */
    content: z.string().nullable(),
    content_parts: z.array(z.unknown()).nullable(),
    name: z.string().nullable(),
    refusal: z.string().nullable(),
    tool_calls: z.array(ChatToolCall).optional(),
    tool_call_id: z.string().optional(),
  })
  .meta({ id: 'StoredChatMessage' })
export type StoredChatMessage = z.infer<typeof StoredChatMessage>

const params = z.strictObject({ completion_id: ChatCompletionId })
/** Unlike other lists, these begin with the oldest. */
const order = z.enum(['asc', 'desc']).default('asc')
const reads = { auth: 'project_key', scope: 'inference.read' } as const
const writes = { auth: 'project_key', scope: 'inference.write' } as const

export const listChatCompletions = operation({
  ...reads,
  id: 'chat.completions.list',
  method: 'GET',
  path: '/v1/chat/completions',
  summary: 'List the chat completions that were stored.',
  query: pageQuery().extend({ order, model: z.string().min(1).max(256).optional(), metadata: Metadata.optional() }),
  reply: pageOf(StoredChatCompletion),
})

export const retrieveChatCompletion = operation({
  ...reads,
  id: 'chat.completions.retrieve',
  method: 'GET',
  path: '/v1/chat/completions/{completion_id}',
  summary: 'Read a stored chat completion.',
  params,
  reply: StoredChatCompletion,
  faults: ['not_found'],
})

export const updateChatCompletion = operation({
  ...writes,
  id: 'chat.completions.update',
  method: 'POST',
  path: '/v1/chat/completions/{completion_id}',
  summary: "Replace a stored chat completion's metadata.",
  params,
  body: z.strictObject({ metadata: Metadata.nullable() }),
  reply: StoredChatCompletion,
  faults: ['not_found'],
})

export const deleteChatCompletion = operation({
  ...writes,
  id: 'chat.completions.delete',
  method: 'DELETE',
  path: '/v1/chat/completions/{completion_id}',
  summary: 'Delete a stored chat completion.',
  params,
  reply: z.strictObject({ id: z.string(), object: z.literal('chat.completion.deleted'), deleted: z.literal(true) }),
  faults: ['not_found'],
})

export const listChatMessages = operation({
  ...reads,
  id: 'chat.completions.messages.list',
  method: 'GET',
  path: '/v1/chat/completions/{completion_id}/messages',
  summary: 'List the messages that a stored chat completion was asked with.',
  params,
  query: pageQuery().extend({ order }),
  reply: pageOf(StoredChatMessage),
  faults: ['not_found'],
})

export const storedCompletionOperations = [
  listChatCompletions,
  retrieveChatCompletion,
  updateChatCompletion,
  deleteChatCompletion,
  listChatMessages,
] as const
