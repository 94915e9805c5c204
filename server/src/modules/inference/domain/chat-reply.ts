import type { ChatCompletion, CompletionUsage } from '@switchyard/contracts/chat-completions.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'
import { newId } from '#platform/std/ids.ts'
import type { FinishReason, TurnPart } from './turn.ts'

export const newChatId = () => newId('chatcmpl-')

export function chatUsageOf(usage: Usage): CompletionUsage {
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { cached_tokens: usage.input_tokens_details.cached_tokens },
    completion_tokens_details: { reasoning_tokens: usage.output_tokens_details.reasoning_tokens },
  }
}

const finishReasons = new Set<string>(['stop', 'length', 'tool_calls', 'content_filter', 'function_call'])

/** Providers have others; whatever they mean, the model has stopped. */
export const finishReasonOf = (reason: string | null | undefined): Choice['finish_reason'] =>
  finishReasons.has(reason ?? '') ? (reason as Choice['finish_reason']) : 'stop'

const finishOf = (reason: FinishReason, calls: number) => (reason === 'stop' && calls > 0 ? 'tool_calls' : reason)

/** What one part adds to a stream of chunks; null for parts that the wire has no words for. */
export class ChatDeltas {
  readonly #indexes = new Map<string, number>()

  of(part: TurnPart): Record<string, unknown> | null {
    switch (part.type) {
      case 'text':
        return { content: part.delta }
      case 'refusal':
        return { refusal: part.delta }
      case 'reasoning':
        return { reasoning_content: part.delta }
      case 'tool-start': {
        if (part.tool.type !== 'function') return null
        const index = this.#indexes.size
        this.#indexes.set(part.key, index)
        const call = { id: newId('call_'), type: 'function', function: { name: part.tool.name, arguments: '' } }
        return { tool_calls: [{ index, ...call }] }
      }
      case 'tool-delta':
        return { tool_calls: [{ index: this.#indexes.get(part.key), function: { arguments: part.delta } }] }
      default:
        return null
    }
  }

  finishReason(reason: FinishReason): string {
    return finishOf(reason, this.#indexes.size)
  }
}

type Choice = ChatCompletion['choices'][number]

/** A whole reply of the parts of a turn. */
export function chatReply(parts: readonly TurnPart[], model: string, created: number): ChatCompletion {
  const said = { content: '', refusal: '', reasoning: '' }
  const calls: NonNullable<Choice['message']['tool_calls']> = []
  const logprobs: unknown[] = []
  let finish: Extract<TurnPart, { type: 'finish' }> | null = null
  for (const part of parts) {
    if (part.type === 'text') {
      said.content += part.delta
      logprobs.push(...(part.logprobs ?? []))
    }
    if (part.type === 'refusal') said.refusal += part.delta
    if (part.type === 'reasoning') said.reasoning += part.delta
    if (part.type === 'tool-end' && part.call.type === 'function') {
      const { name, arguments: text } = part.call
      calls.push({ id: newId('call_'), type: 'function', function: { name, arguments: text } })
    }
    if (part.type === 'finish') finish = part
  }
  const message: Choice['message'] = {
    role: 'assistant',
    content: said.content === '' && calls.length + said.refusal.length > 0 ? null : said.content,
    refusal: said.refusal === '' ? null : said.refusal,
    ...(said.reasoning === '' ? {} : { reasoning_content: said.reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  const reason = finishOf(finish?.reason ?? 'stop', calls.length) as Choice['finish_reason']
  return {
    id: newChatId(),
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message,
        finish_reason: reason,
        logprobs: logprobs.length === 0 ? null : { content: logprobs, refusal: null },
      },
    ],
    usage: finish === null ? { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } : chatUsageOf(finish.usage),
  }
}
