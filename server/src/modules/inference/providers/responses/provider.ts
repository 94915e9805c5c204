import { DeclaredTools } from '../../domain/declared-tools.ts'
import type { Model } from '../../domain/model.ts'
import type { TurnPart, TurnRequest } from '../../domain/turn.ts'
import { AnswerParts } from '../answer-parts.ts'
import type { Provider } from '../provider.ts'
import { SealedReasoning } from '../sealed-reasoning.ts'
import type { ProviderConnection } from '../wire/connection.ts'
import { cut, parsed } from '../wire/wire-fault.ts'
import { responsesRequest } from './request.ts'
import { ResponsesReader } from './responses-reader.ts'

const responsesPath = '/responses'

/** Any server that speaks Responses: items pass as they are. */
export function responsesProvider(model: Model, connection: ProviderConnection): Provider {
  const sealed = new SealedReasoning(model.provider)
  return {
    async *stream(request, signal) {
      const { body, parts, reader } = begin(model, request, sealed)
      try {
        for await (const events of connection.events(responsesPath, body, reader, signal)) {
          for (const data of events) if (data !== '[DONE]') reader.accept(parsed(data, 'an event'))
          for (const part of parts.take()) yield part
        }
      } catch (err) {
        if (!signal.aborted) for (const part of parts.take()) yield part
        throw err
      }
      if (!reader.done) throw cut()
      parts.finish()
      for (const part of parts.take()) yield part
    },

    async answer(request, signal): Promise<TurnPart[]> {
      const { body, parts, reader } = begin(model, request, sealed)
      reader.whole(parsed(await connection.answer(responsesPath, body, signal), 'an answer'))
      parts.finish()
      return parts.take()
    },
  }
}

function begin(model: Model, request: TurnRequest, sealed: SealedReasoning) {
  const tools = new DeclaredTools(request.tools)
  const parts = new AnswerParts(request, tools)
  const reader = new ResponsesReader(parts, sealed, request.topLogprobs !== null)
  return { body: JSON.stringify(responsesRequest(model, request, tools, sealed)), parts, reader }
}
