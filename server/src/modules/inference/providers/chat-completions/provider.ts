import { DeclaredTools } from '../../domain/declared-tools.ts'
import type { Model } from '../../domain/model.ts'
import type { TurnPart, TurnRequest } from '../../domain/turn.ts'
import { AnswerParts } from '../answer-parts.ts'
import type { Provider } from '../provider.ts'
import type { ProviderConnection } from '../wire/connection.ts'
import { cut, malformed, parsed } from '../wire/wire-fault.ts'
import { ChatReader, type ChatChunk } from './chat-reader.ts'
import { chatRequest } from './request.ts'

export const chatPath = '/chat/completions'

/** Any server that speaks chat completions. */
export function chatCompletionsProvider(model: Model, connection: ProviderConnection): Provider {
  return {
    chat: connection,

    async *stream(request, signal) {
      const { body, parts, reader } = begin(model, request)
      try {
        for await (const events of connection.events(chatPath, body, reader, signal)) {
          for (const data of events) {
            if (data === '[DONE]') reader.done = true
            else reader.accept(parsed(data, 'an event'))
          }
          for (const part of parts.take()) yield part
        }
      } catch (err) {
        // All was said; only the count of tokens or a last line is missing.
        if (!reader.finished || signal.aborted) {
          for (const part of parts.take()) yield part
          throw err
        }
      }
      if (!reader.finished && !reader.done) throw cut()
      parts.finish()
      for (const part of parts.take()) yield part
    },

    async answer(request, signal): Promise<TurnPart[]> {
      const { body, parts, reader } = begin(model, request)
      const answer = parsed(await connection.answer(chatPath, body, signal), 'an answer') as ChatChunk
      reader.accept(answer)
      if (answer.choices?.[0]?.message === undefined) throw malformed('an answer without a message')
      parts.finish()
      return parts.take()
    },
  }
}

function begin(model: Model, request: TurnRequest) {
  const tools = new DeclaredTools(request.tools)
  const parts = new AnswerParts(request, tools)
  const reader = new ChatReader(parts, request.topLogprobs !== null)
  return { body: JSON.stringify(chatRequest(model, request, tools)), parts, reader }
}
