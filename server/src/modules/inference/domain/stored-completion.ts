import type { ChatCompletion, CreateChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import type { ChatMessage } from '@switchyard/contracts/chat-messages.ts'
import type { StoredChatCompletion, StoredChatMessage } from '@switchyard/contracts/stored-completions.ts'

/** What was asked for, beside messages, metadata and how the answer was sent. */
export type ChatAsked = Omit<CreateChatCompletion, 'messages' | 'metadata' | 'store' | 'stream' | 'stream_options'>

/** A chat completion that was kept, without its messages. */
export interface KeptCompletion {
  readonly id: string
  readonly createdAt: Date
  /** The snapshot that answered. */
  readonly model: string
  readonly requestId: string
  readonly metadata: Readonly<Record<string, string>>
  readonly asked: ChatAsked
  readonly completion: ChatCompletion
}

export interface StoredCompletion extends KeptCompletion {
  /** The input. */
  readonly messages: readonly ChatMessage[]
}

/** A provider may say what it likes about the time; within this of ours it is believed. */
const clockDriftMaxMs = 3_600_000

/** An answer in the form that it is kept in. */
export function storedCompletion(
  body: CreateChatCompletion,
  completion: ChatCompletion,
  requestId: string,
  nowMs: number,
): StoredCompletion {
  const { messages, metadata, store: _s, stream: _t, stream_options: _o, ...asked } = body
  const createdMs = completion.created * 1_000
  return {
    id: completion.id,
    createdAt: new Date(Math.abs(nowMs - createdMs) <= clockDriftMaxMs ? createdMs : nowMs),
    model: completion.model,
    requestId,
    metadata: metadata ?? {},
    asked,
    messages,
    completion,
  }
}

export function storedCompletionView(kept: KeptCompletion): StoredChatCompletion {
  const { asked } = kept
  return {
    ...kept.completion,
    request_id: kept.requestId,
    metadata: { ...kept.metadata },
    tools: asked.tools ?? null,
    tool_choice: asked.tool_choice ?? null,
    response_format: asked.response_format ?? null,
    temperature: asked.temperature ?? 1,
    top_p: asked.top_p ?? 1,
    presence_penalty: asked.presence_penalty ?? 0,
    frequency_penalty: asked.frequency_penalty ?? 0,
    seed: asked.seed ?? null,
    input_user: asked.user ?? null,
  }
}

/** Messages have no ids of their own: theirs is their place in the completion. */
export function storedMessageViews(id: string, messages: readonly ChatMessage[]): StoredChatMessage[] {
  return messages.map((message, at) => ({
    id: `${id}-${at}`,
    role: message.role,
    content: textOf(message.content),
    content_parts: Array.isArray(message.content) ? message.content : null,
    name: ('name' in message ? message.name : null) ?? null,
    refusal: ('refusal' in message ? message.refusal : null) ?? null,
    ...('tool_calls' in message && message.tool_calls !== undefined ? { tool_calls: message.tool_calls } : {}),
    ...('tool_call_id' in message ? { tool_call_id: message.tool_call_id } : {}),
  }))
}

function textOf(content: ChatMessage['content']): string | null {
  if (content === null || content === undefined || typeof content === 'string') return content ?? null
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
