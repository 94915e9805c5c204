import type { ChatCompletion, CompletionUsage, CreateChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { eventBatch, type ServerEvent } from '#platform/http/sse.ts'
import { finishReasonOf, newChatId } from '../domain/chat-reply.ts'
import { estimateTokens, tokensOf } from '../domain/estimate-tokens.ts'
import { chatTurn } from '../domain/chat-turn.ts'
import { GatheredAnswer, type AnswerPiece } from '../domain/gathered-answer.ts'
import type { Model } from '../domain/model.ts'
import { relayedUsage } from '../domain/usage.ts'
import { chatPath } from '../providers/chat-completions/provider.ts'
import type { ProviderConnection } from '../providers/wire/connection.ts'
import { cut, faultOfEvent, malformed, parsed } from '../providers/wire/wire-fault.ts'
import type { KeepAnswer } from './keep-chat.ts'
import type { CallMeter } from './meter-call.ts'
import { retried } from './stream-turn.ts'

type Body = Readonly<CreateChatCompletion>

/** What stays between us: labels that mean something to this server only. */
function upstreamBody(
  { metadata: _m, store: _s, user: _u, safety_identifier: _i, ...body }: Body,
  model: Model,
  stream: boolean,
) {
  const { prompt_cache_key: _k, service_tier: _t, stream_options: _o, ...asked } = body
  const options = stream ? { stream_options: { include_usage: true } } : {}
  return JSON.stringify({ ...asked, model: model.providerModel, stream, ...options })
}

/** For providers that count nothing: from characters, as limits estimate. */
function estimated(body: Body, chars: number): CompletionUsage {
  const prompt = estimateTokens(chatTurn(body))
  const completion = tokensOf(chars)
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

/** A whole answer of a provider that speaks this wire, under our id and the snapshot's name. */
export async function relayAnswer(
  connection: ProviderConnection,
  model: Model,
  body: Body,
  signal: AbortSignal,
): Promise<ChatCompletion> {
  const text = await retried(() => connection.answer(chatPath, upstreamBody(body, model, false), signal), signal)
  const answer = parsed(text, 'an answer') as unknown as ChatCompletion
  const choice = answer.choices?.[0]
  if (choice?.message === undefined) throw malformed('an answer without a message')
  answer.id = newChatId()
  answer.object = 'chat.completion'
  answer.created ??= Math.floor(Date.now() / 1000)
  answer.model = model.id
  choice.message.role = 'assistant'
  choice.message.content ??= null
  choice.logprobs ??= null
  choice.finish_reason = finishReasonOf(choice.finish_reason)
  answer.usage = answer.usage ? relayedUsage(answer.usage) : estimated(body, choice.message.content?.length ?? 0)
  return answer
}

/** Begins a stream; a failure before the first event is thrown here, while it can still be a status. */
export async function relayStream(
  connection: ProviderConnection,
  model: Model,
  body: Body,
  signal: AbortSignal,
  meter: CallMeter,
  keep: KeepAnswer | null,
): Promise<AsyncGenerator<ServerEvent, void, void>> {
  const relay = new Relay(model, body, meter, keep)
  const text = upstreamBody(body, model, true)
  const [events, first] = await retried(async () => {
    const opened = connection.events(chatPath, text, relay, signal)
    return [opened, await opened.next()] as const
  }, signal)
  return relayed(relay, events, first, meter)
}

async function* relayed(
  relay: Relay,
  events: AsyncGenerator<string[], void, void>,
  first: IteratorResult<string[], void>,
  meter: CallMeter,
): AsyncGenerator<ServerEvent, void, void> {
  try {
    for (let next = first; next.done !== true; next = await events.next()) {
      const texts: string[] = []
      for (const data of next.value) relay.accept(data, texts)
      if (texts.length > 0) yield eventBatch(texts)
    }
    if (!relay.finished && !relay.done) throw cut()
    await meter.done(relay.usage())
    await relay.keep()
  } finally {
    await events.return()
    await meter.cut()
  }
  yield eventBatch(relay.last())
}

interface Chunk {
  id: string
  created?: number
  model: string
  choices?: (AnswerPiece & { readonly delta?: { readonly content?: string | null } })[]
  usage?: unknown
  error?: unknown
}

/** Puts our id and name on each chunk and holds the count of tokens back until the end, where the contract has it. */
class Relay {
  done = false
  finished = false
  readonly #id = newChatId()
  readonly #model: Model
  readonly #body: Body
  readonly #countWanted: boolean
  #usage: CompletionUsage | null = null
  #created = Math.floor(Date.now() / 1000)
  #chars = 0
  readonly #meter: CallMeter
  readonly #keep: KeepAnswer | null
  /** Only of what is to be stored. */
  readonly #gathered: GatheredAnswer | null

  constructor(model: Model, body: Body, meter: CallMeter, keep: KeepAnswer | null) {
    this.#meter = meter
    this.#keep = keep
    this.#gathered = keep === null ? null : new GatheredAnswer()
    this.#model = model
    this.#body = body
    this.#countWanted = body.stream_options?.include_usage === true
  }

  accept(data: string, texts: string[]): void {
    if (data === '[DONE]') {
      this.done = true
      return
    }
    const chunk = parsed(data, 'an event') as unknown as Chunk
    if (chunk.error !== undefined && chunk.error !== null) throw faultOfEvent(chunk.error)
    if (chunk.usage) this.#usage = relayedUsage(chunk.usage as Record<string, unknown>)
    this.#created = chunk.created ?? this.#created
    const choice = chunk.choices?.[0]
    if (choice === undefined) return
    if (choice.finish_reason) this.finished = true
    const said = choice.delta?.content?.length ?? 0
    this.#chars += said
    this.#meter.say(said)
    this.#gathered?.add(choice)
    chunk.id = this.#id
    chunk.model = this.#model.id
    if (this.#countWanted) chunk.usage = null
    else delete chunk.usage
    texts.push(JSON.stringify(chunk))
  }

  /** As the provider counted, or else as we do. */
  usage(): CompletionUsage {
    return this.#usage ?? estimated(this.#body, this.#chars)
  }

  async keep(): Promise<void> {
    if (this.#gathered === null) return
    const about = { id: this.#id, created: this.#created, model: this.#model.id }
    await this.#keep?.(this.#gathered.completion(about, this.usage()))
  }

  /** What ends the stream. */
  last(): string[] {
    if (!this.#countWanted) return ['[DONE]']
    const chunk = {
      id: this.#id,
      object: 'chat.completion.chunk',
      created: this.#created,
      model: this.#model.id,
      choices: [],
      usage: this.usage(),
    }
    return [JSON.stringify(chunk), '[DONE]']
  }
}
