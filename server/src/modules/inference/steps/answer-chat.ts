import type { ChatCompletion, CreateChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import type { Model } from '../domain/model.ts'
import type { Provider } from '../providers/provider.ts'
import { mapAnswer } from './map-chat.ts'
import { relayAnswer } from './relay-chat.ts'

/** A whole chat completion, whatever wire its model speaks. */
export async function answerChat(
  provider: Provider,
  model: Model,
  body: CreateChatCompletion,
  signal: AbortSignal,
): Promise<ChatCompletion> {
  return provider.chat
    ? await relayAnswer(provider.chat, model, body, signal)
    : await mapAnswer(provider, model, body, signal)
}
