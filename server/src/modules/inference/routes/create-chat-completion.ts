import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import type { Admission } from '#modules/limits/index.ts'
import { route } from '#platform/http/route.ts'
import { checkContent, checkWireOffers } from '../domain/wire-offers.ts'
import { chatTurn } from '../domain/chat-turn.ts'
import { estimateTokens } from '../domain/estimate-tokens.ts'
import { answerChat } from '../steps/answer-chat.ts'
import { keepAnswerOf } from '../steps/keep-chat.ts'
import { CallMeter, metered, orCut } from '../steps/meter-call.ts'
import { mapStream } from '../steps/map-chat.ts'
import { relayStream } from '../steps/relay-chat.ts'
import type { RouteUses } from '../use.ts'
import { eventReply, orFault } from './event-reply.ts'

/** Where the request holds what a model may find too long. */
const param = 'messages'

export const createChatCompletionRoute = (use: RouteUses) =>
  route(createChatCompletion, async ({ scope, body, request, passage }) => {
    const model = use.catalogue.get(body.model)
    checkWireOffers(model, body)
    checkContent(model, body.messages)
    const provider = use.providerOf(model)
    const { signal } = request
    const inputTokens = () => estimateTokens(chatTurn(body))
    const meter = new CallMeter(use.limits, passage as Admission, { operation: 'chat_completions', model, inputTokens })
    const keep = keepAnswerOf(use.db, { projectId: scope.projectId, requestId: request.id }, body)
    return await orFault(param, async () => {
      if (body.stream === true) {
        const { chat } = provider
        const events = await orCut(meter, signal, () =>
          chat
            ? relayStream(chat, model, body, signal, meter, keep)
            : mapStream(provider, model, body, signal, meter, keep),
        )
        return eventReply(events, param, signal, meter, use.log)
      }
      const answer = await metered(meter, signal, () => answerChat(provider, model, body, signal))
      await keep?.(answer)
      return answer
    })
  })
