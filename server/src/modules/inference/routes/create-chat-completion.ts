import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { route } from '#platform/http/route.ts'
import { checkContent, checkWireOffers } from '../domain/wire-offers.ts'
import { mapAnswer, mapStream } from '../steps/map-chat.ts'
import { relayAnswer, relayStream } from '../steps/relay-chat.ts'
import type { RouteUses } from '../use.ts'
import { eventReply, orFault } from './event-reply.ts'

/** Where the request holds what a model may find too long. */
const param = 'messages'

export const createChatCompletionRoute = (use: RouteUses) =>
  route(createChatCompletion, async ({ body, request }) => {
    const model = use.catalogue.get(body.model)
    checkWireOffers(model, body)
    checkContent(model, body.messages)
    const provider = use.providerOf(model)
    const { signal } = request
    return await orFault(param, async () => {
      if (body.stream === true) {
        const events = provider.chat
          ? await relayStream(provider.chat, model, body, signal)
          : await mapStream(provider, model, body, signal)
        return eventReply(events, param, signal)
      }
      return provider.chat
        ? await relayAnswer(provider.chat, model, body, signal)
        : await mapAnswer(provider, model, body, signal)
    })
  })
