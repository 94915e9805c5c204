import type { ChatCompletion, CreateChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import type { Completion, CreateCompletion } from '@switchyard/contracts/completions.ts'
import { checkContent, checkWireOffers } from '../domain/wire-offers.ts'
import type { RouteUses } from '../use.ts'
import { answerChat } from './answer-chat.ts'
import { checkChoices, completePrompts } from './complete-prompts.ts'

type Uses = Pick<RouteUses, 'catalogue' | 'providerOf'>

/** A chat completion for a line of a batch. */
export async function answerChatLine(
  use: Uses,
  body: CreateChatCompletion,
  signal: AbortSignal,
): Promise<ChatCompletion> {
  const model = use.catalogue.get(body.model)
  checkWireOffers(model, body)
  checkContent(model, body.messages)
  return await answerChat(use.providerOf(model), model, body, signal)
}

/** A completion for a line of a batch. */
export async function answerPromptsLine(use: Uses, body: CreateCompletion, signal: AbortSignal): Promise<Completion> {
  const model = use.catalogue.get(body.model)
  checkWireOffers(model, body)
  checkChoices(body)
  return await completePrompts(use.providerOf(model), model, body, signal)
}
