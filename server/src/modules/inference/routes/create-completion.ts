import { choicesMax, createCompletion } from '@switchyard/contracts/completions.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { checkWireOffers } from '../domain/wire-offers.ts'
import { completePrompts, promptsOf, streamPrompts } from '../steps/complete-prompts.ts'
import type { RouteUses } from '../use.ts'
import { eventReply, orFault } from './event-reply.ts'

/** Where the request holds what a model may find too long. */
const param = 'prompt'

export const createCompletionRoute = (use: RouteUses) =>
  route(createCompletion, async ({ body, request }) => {
    const model = use.catalogue.get(body.model)
    checkWireOffers(model, body)
    if (promptsOf(body).length > choicesMax) {
      throw new Fault('integer_above_max_value', `Prompts times 'n' must not exceed ${choicesMax}.`, { param: 'n' })
    }
    const { signal } = request
    return await orFault(param, async () => {
      if (body.stream !== true) return await completePrompts(use.providerOf(model), model, body, signal)
      return eventReply(await streamPrompts(use.providerOf(model), model, body, signal), param, signal)
    })
  })
