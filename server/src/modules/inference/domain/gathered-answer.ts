import type { ChatCompletion, CompletionUsage } from '@switchyard/contracts/chat-completions.ts'
import { finishReasonOf } from './chat-reply.ts'

type Message = ChatCompletion['choices'][number]['message']

interface CallPiece {
  readonly index?: number
  readonly id?: string
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

/** What one chunk of a stream adds. */
export interface AnswerPiece {
  readonly delta?: { readonly [name: string]: unknown }
  readonly logprobs?: unknown
  readonly finish_reason?: string | null
}

type Logprobs = { readonly content?: readonly unknown[] | null; readonly refusal?: readonly unknown[] | null }

/** A streamed answer as the whole it would have been. No longer than the stream, which is bounded where it is read. */
export class GatheredAnswer {
  readonly #texts = new Map<string, string>()
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>()
  readonly #contentLogprobs: unknown[] = []
  readonly #refusalLogprobs: unknown[] = []
  #finish: string | null = null

  add({ delta = {}, logprobs, finish_reason: finish }: AnswerPiece): void {
    for (const [name, value] of Object.entries(delta)) {
      if (name === 'tool_calls') this.#addCalls((value ?? []) as CallPiece[])
      else if (name !== 'role' && typeof value === 'string')
        this.#texts.set(name, (this.#texts.get(name) ?? '') + value)
    }
    const { content, refusal } = (logprobs ?? {}) as Logprobs
    for (const one of content ?? []) this.#contentLogprobs.push(one)
    for (const one of refusal ?? []) this.#refusalLogprobs.push(one)
    this.#finish = finish ?? this.#finish
  }

  completion(about: { id: string; created: number; model: string }, usage: CompletionUsage): ChatCompletion {
    const logprobs = { content: this.#contentLogprobs, refusal: this.#refusalLogprobs }
    return {
      ...about,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: this.#message(),
          finish_reason: finishReasonOf(this.#finish),
          logprobs: logprobs.content.length + logprobs.refusal.length === 0 ? null : logprobs,
        },
      ],
      usage,
    }
  }

  #addCalls(pieces: readonly CallPiece[]): void {
    for (const piece of pieces) {
      const at = piece.index ?? 0
      const call = this.#calls.get(at) ?? { id: '', name: '', arguments: '' }
      call.id ||= piece.id ?? ''
      call.name += piece.function?.name ?? ''
      call.arguments += piece.function?.arguments ?? ''
      this.#calls.set(at, call)
    }
  }

  #message(): Message {
    const { content = '', refusal = '', ...others } = Object.fromEntries(this.#texts)
    const calls = [...this.#calls].toSorted(([a], [b]) => a - b)
    return {
      role: 'assistant',
      content: content === '' && calls.length + refusal.length > 0 ? null : content,
      refusal: refusal === '' ? null : refusal,
      ...others,
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(([, { id, ...called }]) => ({ id, type: 'function' as const, function: called })),
          }),
    }
  }
}
