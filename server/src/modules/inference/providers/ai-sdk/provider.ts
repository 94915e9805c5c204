import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'
import { fetch as undiciFetch } from 'undici'
import { DeclaredTools } from '../../domain/declared-tools.ts'
import type { Model } from '../../domain/model.ts'
import type { TurnPart, TurnRequest } from '../../domain/turn.ts'
import { AnswerParts } from '../answer-parts.ts'
import type { Provider } from '../provider.ts'
import { SealedReasoning } from '../sealed-reasoning.ts'
import { Deadline } from '../wire/deadline.ts'
import type { ProviderLimits } from '../wire/limits.ts'
import type { OriginPool, ProviderPools } from '../wire/pools.ts'
import { cut } from '../wire/wire-fault.ts'
import { callOptions } from './call-options.ts'
import { faultOfSdk } from './sdk-fault.ts'
import { SdkReader } from './sdk-reader.ts'

/** How one package is made to speak to one provider. Another package is another value of this type. */
export interface SdkPackage {
  open(model: Model, fetchThere: typeof fetch): LanguageModelV4
  /** What only this package's provider knows. */
  options(request: TurnRequest): SharedV4ProviderOptions
}

/** Any provider that has a package of the AI SDK. */
export function aiSdkProvider(sdk: SdkPackage, model: Model, pools: ProviderPools, limits: ProviderLimits): Provider {
  const origin = pools.get(new URL(model.provider.baseUrl).origin)
  const language = sdk.open(model, fetchThrough(origin))
  const sealed = new SealedReasoning(model.provider)
  return {
    async *stream(request, signal) {
      const deadline = new Deadline(limits.firstPartMs, signal)
      const { options, parts, reader } = begin(model, request, sealed)
      origin.enter()
      try {
        const { stream } = await language.doStream({
          ...options,
          providerOptions: sdk.options(request),
          abortSignal: deadline.signal,
        })
        for await (const part of stream) {
          reader.accept(part)
          const taken = parts.take()
          if (taken.length > 0) deadline.stopClock()
          for (const one of taken) yield one
        }
        if (!reader.done) throw cut()
      } catch (err) {
        throw deadline.meaning(faultOfSdk(err))
      } finally {
        deadline.end()
        origin.leave()
      }
      parts.finish()
      for (const part of parts.take()) yield part
    },

    async answer(request, signal): Promise<TurnPart[]> {
      const deadline = new Deadline(limits.answerMs, signal)
      const { options, parts, reader } = begin(model, request, sealed)
      origin.enter()
      try {
        const answer = await language.doGenerate({
          ...options,
          providerOptions: sdk.options(request),
          abortSignal: deadline.signal,
        })
        for (const content of answer.content) reader.whole(content)
        reader.end(answer.finishReason, answer.usage)
        parts.model = answer.response?.modelId ?? null
      } catch (err) {
        throw deadline.meaning(faultOfSdk(err))
      } finally {
        deadline.end()
        origin.leave()
      }
      parts.finish()
      return parts.take()
    },
  }
}

function begin(model: Model, request: TurnRequest, sealed: SealedReasoning) {
  const tools = new DeclaredTools(request.tools)
  const parts = new AnswerParts(request, tools)
  return { options: callOptions(model, request, tools, sealed), parts, reader: new SdkReader(parts, sealed) }
}

/** The packages speak through `fetch`; ours uses the provider's pool and follows no redirect. */
function fetchThrough({ pool }: OriginPool): typeof fetch {
  return ((input: string, init: object) =>
    undiciFetch(input, { ...init, dispatcher: pool, redirect: 'manual' })) as unknown as typeof fetch
}
