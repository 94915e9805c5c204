import type { Logprob } from '@switchyard/contracts/responses/parts.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'
import { usageOf } from '../../domain/usage.ts'
import type { AnswerParts } from '../answer-parts.ts'
import type { SealedReasoning } from '../sealed-reasoning.ts'
import { faultOfEvent, malformed } from '../wire/wire-fault.ts'

/** What we look at of an event. As on the chat wire, nothing is validated but what would mislead us. */
export interface ResponsesEvent {
  readonly type?: string
  readonly delta?: string
  readonly logprobs?: Logprob[]
  readonly item_id?: string
  readonly summary_index?: number
  readonly item?: WireItem
  readonly response?: WireResponse
  readonly error?: unknown
  readonly message?: string
  readonly code?: string | null
}

interface WireItem {
  readonly type?: string
  readonly id?: string
  readonly name?: string
  readonly arguments?: string
  readonly input?: string
  readonly encrypted_content?: string | null
  readonly summary?: readonly { readonly text?: string }[]
  readonly content?: readonly {
    readonly type?: string
    readonly text?: string
    readonly refusal?: string
    readonly logprobs?: Logprob[]
  }[]
}

export interface WireResponse {
  readonly model?: string
  readonly status?: string
  readonly output?: readonly WireItem[]
  readonly error?: unknown
  readonly incomplete_details?: { readonly reason?: string } | null
  readonly usage?: {
    readonly input_tokens?: number
    readonly output_tokens?: number
    readonly input_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number } | null
    readonly output_tokens_details?: { readonly reasoning_tokens?: number } | null
  } | null
}

const isCall = (item: WireItem) => item.type === 'function_call' || item.type === 'custom_tool_call'

/** Reads events of a stream, or a whole response. Items and events of tools that we never declare are passed over. */
export class ResponsesReader {
  readonly #parts: AnswerParts
  readonly #sealed: SealedReasoning
  readonly #wantsLogprobs: boolean
  done = false

  constructor(parts: AnswerParts, sealed: SealedReasoning, wantsLogprobs: boolean) {
    this.#parts = parts
    this.#sealed = sealed
    this.#wantsLogprobs = wantsLogprobs
  }

  accept(event: ResponsesEvent): void {
    const delta = typeof event.delta === 'string' ? event.delta : ''
    switch (event.type) {
      case 'response.output_text.delta':
        if (delta !== '') this.#parts.text(delta, this.#wantsLogprobs ? (event.logprobs ?? []) : undefined)
        return
      case 'response.refusal.delta':
        if (delta !== '') this.#parts.refusal(delta)
        return
      case 'response.reasoning_text.delta':
        return this.#parts.reasoning('text', delta)
      case 'response.reasoning_summary_text.delta':
        return this.#parts.reasoning('summary', delta)
      case 'response.reasoning_summary_part.added':
        if ((event.summary_index ?? 0) > 0) this.#parts.reasoningBreak()
        return
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#parts.callDelta(String(event.item_id), delta)
      default:
        this.#lifecycle(event)
    }
  }

  #lifecycle(event: ResponsesEvent): void {
    switch (event.type) {
      case 'response.output_item.added':
        if (event.item !== undefined && isCall(event.item)) this.#callStart(event.item)
        return
      case 'response.output_item.done':
        if (event.item !== undefined) this.#itemDone(event.item)
        return
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.end(event.response ?? {})
      case 'error':
        throw faultOfEvent(event.error ?? { code: event.code, message: event.message })
      default:
    }
  }

  /** A whole answer. */
  whole(response: WireResponse): void {
    if (!Array.isArray(response.output)) throw malformed('an answer without output')
    for (const item of response.output as WireItem[]) {
      if (isCall(item)) this.#callStart(item)
      if (item.type === 'reasoning') this.#wholeReasoning(item)
      if (item.type === 'message') this.#wholeMessage(item)
      this.#itemDone(item)
    }
    this.end(response)
  }

  end(response: WireResponse): void {
    if (response.error !== undefined && response.error !== null) throw faultOfEvent(response.error)
    if (response.status === 'failed') throw faultOfEvent({})
    this.done = true
    this.#parts.model = response.model ?? null
    if (response.usage) this.#parts.usage = responsesUsage(response.usage)
    if (response.status !== 'incomplete') return
    this.#parts.reason = response.incomplete_details?.reason === 'content_filter' ? 'content_filter' : 'length'
  }

  #callStart(item: WireItem): void {
    if (typeof item.name !== 'string' || typeof item.id !== 'string') throw malformed('a tool call without a name')
    this.#parts.callStart(item.id, item.name, item.type === 'custom_tool_call')
  }

  #itemDone(item: WireItem): void {
    if (isCall(item)) this.#parts.callEnd(String(item.id), item.arguments ?? item.input ?? '')
    if (item.type !== 'reasoning') return
    const { encrypted_content: encrypted } = item
    this.#parts.reasoningEnd(typeof encrypted === 'string' ? this.#sealed.tagged(encrypted) : null)
  }

  #wholeMessage({ content = [] }: WireItem): void {
    for (const { type, text, refusal, logprobs } of content) {
      if (type === 'output_text') this.#parts.text(text ?? '', this.#wantsLogprobs ? (logprobs ?? []) : undefined)
      if (type === 'refusal') this.#parts.refusal(refusal ?? '')
    }
  }

  #wholeReasoning({ content = [], summary = [] }: WireItem): void {
    for (const { text } of content) this.#parts.reasoning('text', text ?? '')
    for (const [at, { text }] of summary.entries()) {
      if (at > 0) this.#parts.reasoningBreak()
      this.#parts.reasoning('summary', text ?? '')
    }
  }
}

function responsesUsage(usage: NonNullable<WireResponse['usage']>): Usage {
  return usageOf({
    input: usage.input_tokens ?? 0,
    output: usage.output_tokens ?? 0,
    cached: usage.input_tokens_details?.cached_tokens,
    cacheWrite: usage.input_tokens_details?.cache_write_tokens,
    reasoning: usage.output_tokens_details?.reasoning_tokens,
  })
}
