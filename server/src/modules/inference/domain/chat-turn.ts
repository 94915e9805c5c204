import type { CreateChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import type { ChatMessage } from '@switchyard/contracts/chat-messages.ts'
import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { MessagePart } from '@switchyard/contracts/responses/parts.ts'
import type { TextFormat } from '@switchyard/contracts/responses/request.ts'
import type { Tool } from '@switchyard/contracts/responses/tools.ts'
import type { TurnRequest, TurnToolChoice } from './turn.ts'

/** A chat completion as a turn, for providers of other wires. */
export function chatTurn(body: CreateChatCompletion): TurnRequest {
  return {
    model: body.model,
    instructions: null,
    items: body.messages.flatMap(itemsOf),
    tools: (body.tools ?? []).map(toolOf),
    toolChoice: choiceOf(body.tool_choice),
    parallelToolCalls: body.parallel_tool_calls ?? true,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? null,
    temperature: body.temperature ?? null,
    topP: body.top_p ?? null,
    topLogprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : null,
    ...stopOf(body.stop),
    format: formatOf(body.response_format),
    verbosity: body.verbosity ?? null,
    reasoning: { effort: body.reasoning_effort ?? null, summary: null },
    encryptedReasoning: false,
    stream: body.stream === true,
  }
}

export function stopOf(stop: string | readonly string[] | null | undefined): Pick<TurnRequest, 'stop'> {
  if (stop === null || stop === undefined) return {}
  return { stop: typeof stop === 'string' ? [stop] : stop }
}

export function message(role: 'user' | 'assistant' | 'system' | 'developer', content: MessagePart[]): StoredItem {
  // The id is never sent on: a chat message has none.
  return { type: 'message', id: 'msg', role, status: 'completed', content }
}

export const inputText = (text: string): MessagePart => ({ type: 'input_text', text })

function itemsOf(said: ChatMessage): StoredItem[] {
  switch (said.role) {
    case 'tool':
      return [{ type: 'function_call_output', id: 'fco', call_id: said.tool_call_id, output: textOf(said.content) }]
    case 'user':
      return [message('user', partsOf(said.content))]
    case 'assistant':
      return assistantItems(said)
    default:
      return [message(said.role, [inputText(textOf(said.content))])]
  }
}

function assistantItems({ content, refusal, tool_calls: calls = [] }: Extract<ChatMessage, { role: 'assistant' }>) {
  const text = textOf(content ?? '')
  const parts: MessagePart[] = []
  if (text !== '') parts.push({ type: 'output_text', text, annotations: [] })
  if (refusal !== null && refusal !== undefined) parts.push({ type: 'refusal', refusal })
  const items: StoredItem[] = parts.length === 0 && calls.length > 0 ? [] : [message('assistant', parts)]
  for (const { id, function: called } of calls) items.push({ type: 'function_call', id: 'fc', call_id: id, ...called })
  return items
}

type Parts = Extract<Extract<ChatMessage, { role: 'user' }>['content'], readonly unknown[]>

function textOf(content: string | readonly ({ text: string } | { refusal: string })[]): string {
  if (typeof content === 'string') return content
  return content.map((part) => ('text' in part ? part.text : part.refusal)).join('')
}

function partsOf(content: string | Parts): MessagePart[] {
  if (typeof content === 'string') return [inputText(content)]
  return content.map((part): MessagePart => {
    if (part.type === 'text') return inputText(part.text)
    if (part.type === 'file') return { type: 'input_file', ...part.file }
    return { type: 'input_image', image_url: part.image_url.url, detail: part.image_url.detail ?? 'auto' }
  })
}

function toolOf({ function: declared }: NonNullable<CreateChatCompletion['tools']>[number]): Tool {
  return { type: 'function', ...declared }
}

function choiceOf(choice: CreateChatCompletion['tool_choice']): TurnToolChoice {
  if (choice === undefined) return { mode: 'auto' }
  if (typeof choice === 'string') return { mode: choice }
  return { mode: 'tool', tool: { type: 'function', name: choice.function.name } }
}

function formatOf(format: CreateChatCompletion['response_format']): TextFormat {
  if (format === undefined) return { type: 'text' }
  if (format.type !== 'json_schema') return format
  const { name, schema = {}, description, strict } = format.json_schema
  return { type: 'json_schema', name, schema, strict, ...(description === undefined ? {} : { description }) }
}
