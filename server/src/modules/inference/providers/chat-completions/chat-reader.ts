import type { Logprob } from '@switchyard/contracts/responses/parts.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'
import type { FinishReason } from '../../domain/turn.ts'
import { usageOf } from '../../domain/usage.ts'
import type { AnswerParts } from '../answer-parts.ts'
import { faultOfEvent, malformed } from '../wire/wire-fault.ts'

/** What we look at of a chunk or an answer. Nothing is validated but what would mislead us: this is the hot path. */
export interface ChatChunk {
  readonly model?: string
  readonly choices?: readonly ChatChoice[]
  readonly usage?: ChatUsage | null
  readonly error?: unknown
}

interface ChatChoice {
  readonly delta?: ChatSaid
  readonly message?: ChatSaid
  readonly finish_reason?: string | null
  readonly logprobs?: { readonly content?: readonly ChatLogprob[] | null } | null
}

interface ChatSaid {
  readonly content?: string | null
  readonly reasoning_content?: string | null
  readonly reasoning?: string | null
  readonly refusal?: string | null
  readonly tool_calls?: readonly ChatCall[] | null
}

interface ChatCall {
  readonly index?: number
  readonly id?: string | null
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null }
}

interface ChatLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes?: number[] | null
  readonly top_logprobs?: readonly Omit<ChatLogprob, 'top_logprobs'>[]
}

interface ChatUsage {
  readonly prompt_tokens?: number
  readonly completion_tokens?: number
  readonly prompt_tokens_details?: { readonly cached_tokens?: number | null } | null
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null
}

const finishReasons: Readonly<Record<string, FinishReason>> = { length: 'length', content_filter: 'content_filter' }

/** Reads chunks of a stream, or a whole answer as one of them. */
export class ChatReader {
  readonly #parts: AnswerParts
  readonly #wantsLogprobs: boolean
  readonly #callIds = new Map<number, string | null>()
  #lastCall = -1
  /** The model has said all. */
  finished = false
  /** The stream has said all: the count of tokens follows the model's last word. */
  done = false

  constructor(parts: AnswerParts, wantsLogprobs: boolean) {
    this.#parts = parts
    this.#wantsLogprobs = wantsLogprobs
  }

  accept(chunk: ChatChunk): void {
    if (chunk.error !== undefined && chunk.error !== null) throw faultOfEvent(chunk.error)
    if (typeof chunk.model === 'string') this.#parts.model = chunk.model
    if (typeof chunk.usage === 'object' && chunk.usage !== null) this.#parts.usage = chatUsage(chunk.usage)
    const choice = chunk.choices?.[0]
    if (choice === undefined) return
    const said = choice.delta ?? choice.message
    if (typeof said === 'object' && said !== null) this.#said(said, choice)
    const reason = choice.finish_reason
    if (typeof reason === 'string' && reason !== '') {
      this.finished = true
      this.#parts.reason = finishReasons[reason] ?? 'stop'
    }
  }

  #said(said: ChatSaid, choice: ChatChoice): void {
    const thought = said.reasoning_content ?? said.reasoning
    if (typeof thought === 'string' && thought !== '') this.#parts.reasoning('text', thought)
    if (typeof said.content === 'string' && said.content !== '') {
      this.#parts.text(said.content, this.#wantsLogprobs ? logprobsOf(choice) : undefined)
    }
    if (typeof said.refusal === 'string' && said.refusal !== '') this.#parts.refusal(said.refusal)
    if (Array.isArray(said.tool_calls)) for (const call of said.tool_calls as ChatCall[]) this.#call(call)
  }

  /** The first piece of a call brings its name. */
  #call(call: ChatCall): void {
    const name = call.function?.name
    const begins = typeof name === 'string' && name !== ''
    const index = this.#indexOf(call, begins)
    const key = `call-${index}`
    if (begins && !this.#parts.hasCall(key)) {
      this.#lastCall = index
      this.#callIds.set(index, call.id ?? null)
      this.#parts.callStart(key, name)
    } else if (!this.#parts.hasCall(key)) throw malformed('a piece of a tool call that never began')
    const piece = call.function?.arguments
    if (typeof piece === 'string') this.#parts.callDelta(key, piece)
    // Some servers send arguments as an object.
    else if (typeof piece === 'object' && piece !== null) this.#parts.callDelta(key, JSON.stringify(piece))
  }

  /** Some servers number no calls, and some give every call the same number: then a new id begins a new one. */
  #indexOf({ index, id }: ChatCall, begins: boolean): number {
    if (!begins) return index === undefined || index < this.#lastCall ? this.#lastCall : index
    const known = index === undefined ? undefined : this.#callIds.get(index)
    const taken = typeof known === 'string' && typeof id === 'string' && id !== '' && id !== known
    return index === undefined || taken ? this.#lastCall + 1 : index
  }
}

function logprobsOf({ logprobs }: ChatChoice): Logprob[] {
  return (logprobs?.content ?? []).map(({ token, logprob, bytes, top_logprobs: top }) => ({
    token,
    logprob,
    ...(bytes ? { bytes } : {}),
    top_logprobs: (top ?? []).map((one) => ({
      token: one.token,
      logprob: one.logprob,
      ...(one.bytes ? { bytes: one.bytes } : {}),
    })),
  }))
}

export function chatUsage(usage: ChatUsage): Usage {
  return usageOf({
    input: usage.prompt_tokens ?? 0,
    output: usage.completion_tokens ?? 0,
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  })
}
