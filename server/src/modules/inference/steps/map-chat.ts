import type { ChatCompletion, CreateChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { eventBatch, type ServerEvent } from '#platform/http/sse.ts'
import { ChatDeltas, chatReply, chatUsageOf, newChatId } from '../domain/chat-reply.ts'
import { chatTurn } from '../domain/chat-turn.ts'
import { GatheredAnswer } from '../domain/gathered-answer.ts'
import type { Model } from '../domain/model.ts'
import type { TurnPart } from '../domain/turn.ts'
import type { Provider } from '../providers/provider.ts'
import type { KeepAnswer } from './keep-chat.ts'
import type { CallMeter } from './meter-call.ts'
import { streamTurn } from './stream-turn.ts'

const nowSeconds = () => Math.floor(Date.now() / 1000)

/** A chat completion from a provider of another wire. */
export async function mapAnswer(
  provider: Provider,
  model: Model,
  body: CreateChatCompletion,
  signal: AbortSignal,
): Promise<ChatCompletion> {
  const created = nowSeconds()
  const parts: TurnPart[] = []
  for await (const part of streamTurn(provider, chatTurn(body), signal)) parts.push(part)
  return chatReply(parts, model.id, created)
}

/** The same as a stream. A failure before the first part is thrown here, while it can still be a status. */
export async function mapStream(
  provider: Provider,
  model: Model,
  body: CreateChatCompletion,
  signal: AbortSignal,
  meter: CallMeter,
  keep: KeepAnswer | null,
): Promise<AsyncGenerator<ServerEvent, void, void>> {
  const parts = streamTurn(provider, chatTurn(body), signal)[Symbol.asyncIterator]()
  return mapped(parts, await parts.next(), model, body, meter, keep)
}

async function* mapped(
  parts: AsyncIterator<TurnPart>,
  first: IteratorResult<TurnPart, unknown>,
  model: Model,
  { stream_options: options }: CreateChatCompletion,
  meter: CallMeter,
  keep: KeepAnswer | null,
): AsyncGenerator<ServerEvent, void, void> {
  const countWanted = options?.include_usage === true
  const common = { id: newChatId(), object: 'chat.completion.chunk', created: nowSeconds(), model: model.id }
  const noCount = countWanted ? { usage: null } : {}
  const chunk = (delta: object, finish: string | null, logprobs: unknown = null) =>
    JSON.stringify({ ...common, choices: [{ index: 0, delta, logprobs, finish_reason: finish }], ...noCount })
  const deltas = new ChatDeltas()
  const gathered = keep === null ? null : new GatheredAnswer()
  try {
    yield eventBatch([chunk({ role: 'assistant', content: '', refusal: null }, null)])
    for (let next = first; next.done !== true; next = await parts.next()) {
      const part = next.value
      if ('delta' in part) meter.say(part.delta.length)
      if (part.type === 'finish') {
        const usage = chatUsageOf(part.usage)
        const finish = deltas.finishReason(part.reason)
        await meter.done(usage)
        if (gathered !== null) {
          gathered.add({ finish_reason: finish })
          await keep?.(gathered.completion(common, usage))
        }
        const last = [chunk({}, finish)]
        if (countWanted) last.push(JSON.stringify({ ...common, choices: [], usage }))
        yield eventBatch([...last, '[DONE]'])
        continue
      }
      const delta = deltas.of(part)
      if (delta === null) continue
      const logprobs =
        part.type === 'text' && part.logprobs !== undefined ? { content: part.logprobs, refusal: null } : null
      gathered?.add({ delta, logprobs })
      yield eventBatch([chunk(delta, null, logprobs)])
    }
  } finally {
    await parts.return?.()
    await meter.cut()
  }
}
