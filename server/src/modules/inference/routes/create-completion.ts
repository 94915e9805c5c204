import { createCompletion } from '@switchyard/contracts/completions.ts'
import type { Admission } from '#modules/limits/index.ts'
import { route } from '#platform/http/route.ts'
import { checkWireOffers } from '../domain/wire-offers.ts'
import { CallMeter, metered, orCut } from '../steps/meter-call.ts'
import { tokensOf } from '../domain/estimate-tokens.ts'
import { checkChoices, completePrompts, promptsOf, streamPrompts } from '../steps/complete-prompts.ts'
import type { RouteUses } from '../use.ts'
import { eventReply, orFault } from './event-reply.ts'

/** Where the request holds what a model may find too long. */
const param = 'prompt'

export const createCompletionRoute = (use: RouteUses) =>
  route(createCompletion, async ({ body, request, passage }) => {
    const model = use.catalogue.get(body.model)
    checkWireOffers(model, body)
    checkChoices(body)
    const { signal } = request
    const inputTokens = () => tokensOf(promptsOf(body).reduce((sum, prompt) => sum + prompt.length, 0))
    const meter = new CallMeter(use.limits, passage as Admission, { operation: 'completions', model, inputTokens })
    const provider = use.providerOf(model)
    return await orFault(param, async () => {
      if (body.stream !== true)
        return await metered(meter, signal, () => completePrompts(provider, model, body, signal))
      const events = await orCut(meter, signal, () => streamPrompts(provider, model, body, signal, meter))
      return eventReply(events, param, signal, meter, use.log)
    })
  })
