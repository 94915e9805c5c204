import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import type { Usage } from '@switchyard/contracts/responses/response.ts'
import { usageOf } from '../../domain/usage.ts'
import type { AnswerParts } from '../answer-parts.ts'
import type { SealedReasoning } from '../sealed-reasoning.ts'
import { faultOfSdk } from './sdk-fault.ts'
import { Thought } from './thought.ts'

/** Reads what a package gives, streamed or whole. */
export class SdkReader {
  readonly #parts: AnswerParts
  readonly #sealed: SealedReasoning
  #thought = new Thought()
  done = false

  constructor(parts: AnswerParts, sealed: SealedReasoning) {
    this.#parts = parts
    this.#sealed = sealed
  }

  accept(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-delta':
        if (part.delta !== '') this.#parts.text(part.delta)
        return
      case 'reasoning-start':
        this.#thought = new Thought()
        return this.#thought.add('', part.providerMetadata)
      case 'reasoning-delta':
        this.#thought.add(part.delta, part.providerMetadata)
        if (part.delta !== '') this.#parts.reasoning('text', part.delta)
        return
      case 'reasoning-end':
        this.#thought.add('', part.providerMetadata)
        return this.#parts.reasoningEnd(this.#thought.sealed(this.#sealed))
      case 'tool-input-start':
        return this.#parts.callStart(part.id, part.toolName)
      case 'tool-input-delta':
        return this.#parts.callDelta(part.id, part.delta)
      default:
        this.#rest(part)
    }
  }

  #rest(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'tool-call':
        if (!this.#parts.hasCall(part.toolCallId)) this.#parts.callStart(part.toolCallId, part.toolName)
        return this.#parts.callEnd(part.toolCallId, part.input)
      case 'response-metadata':
        this.#parts.model = part.modelId ?? null
        return
      case 'finish':
        return this.end(part.finishReason, part.usage)
      case 'error':
        throw faultOfSdk(part.error)
      default:
    }
  }

  /** A part of a whole answer. */
  whole(content: LanguageModelV4Content): void {
    if (content.type === 'text') this.#parts.text(content.text)
    if (content.type === 'tool-call') this.#rest(content)
    if (content.type !== 'reasoning') return
    const thought = new Thought()
    thought.add(content.text, content.providerMetadata)
    if (content.text !== '') this.#parts.reasoning('text', content.text)
    this.#parts.reasoningEnd(thought.sealed(this.#sealed))
  }

  /** A finish without a reason is how the packages end a stream that was cut. */
  end({ unified, raw }: LanguageModelV4FinishReason, usage: LanguageModelV4Usage): void {
    this.done = unified !== 'error' && !(unified === 'other' && raw === undefined)
    if (unified === 'length') this.#parts.reason = 'length'
    if (unified === 'content-filter') this.#parts.reason = 'content_filter'
    this.#parts.usage = sdkUsage(usage)
  }
}

function sdkUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | null {
  if (inputTokens.total === undefined || outputTokens.total === undefined) return null
  return usageOf({
    input: inputTokens.total,
    output: outputTokens.total,
    cached: inputTokens.cacheRead,
    cacheWrite: inputTokens.cacheWrite,
    reasoning: outputTokens.reasoning,
  })
}
