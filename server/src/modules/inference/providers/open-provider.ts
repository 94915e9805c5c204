import type { Model } from '../domain/model.ts'
import { anthropicPackage } from './ai-sdk/anthropic.ts'
import { aiSdkProvider } from './ai-sdk/provider.ts'
import { chatCompletionsProvider } from './chat-completions/provider.ts'
import type { Provider } from './provider.ts'
import { responsesProvider } from './responses/provider.ts'
import { ProviderConnection } from './wire/connection.ts'
import type { ProviderLimits } from './wire/limits.ts'
import type { ProviderPools } from './wire/pools.ts'

/** The provider of a model, by the wire that it speaks. */
export function openProvider(model: Model, pools: ProviderPools, limits: ProviderLimits): Provider {
  switch (model.provider.wire) {
    case 'chat_completions':
      return chatCompletionsProvider(model, new ProviderConnection(model.provider, pools, limits))
    case 'responses':
      return responsesProvider(model, new ProviderConnection(model.provider, pools, limits))
    case 'messages':
      return aiSdkProvider(anthropicPackage, model, pools, limits)
  }
}
