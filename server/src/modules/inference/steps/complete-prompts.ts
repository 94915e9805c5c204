import { choicesMax, type Completion, type CreateCompletion } from '@switchyard/contracts/completions.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'
import { Fault } from '#platform/errors/fault.ts'
import { eventBatch, type ServerEvent } from '#platform/http/sse.ts'
import { newId } from '#platform/std/ids.ts'
import { chatUsageOf } from '../domain/chat-reply.ts'
import { inputText, message, stopOf } from '../domain/chat-turn.ts'
import { interleave } from '../domain/interleave.ts'
import type { Model } from '../domain/model.ts'
import type { TurnPart, TurnRequest } from '../domain/turn.ts'
import { usageOf } from '../domain/usage.ts'
import type { Provider } from '../providers/provider.ts'
import type { CallMeter } from './meter-call.ts'
import { streamTurn } from './stream-turn.ts'

/** Choices of one request that are under way at the same time. */
const choicesAtOnce = 8

interface Said {
  readonly index: number
  readonly part: TurnPart
}

/** Every choice is a turn of its own, with the prompt as the user's only message. */
function turnOf(body: CreateCompletion, prompt: string): TurnRequest {
  const { seed, frequency_penalty: frequency, presence_penalty: presence } = body
  return {
    model: body.model,
    instructions: null,
    items: [message('user', [inputText(prompt)])],
    tools: [],
    toolChoice: { mode: 'auto' },
    parallelToolCalls: true,
    maxOutputTokens: body.max_tokens ?? null,
    temperature: body.temperature ?? null,
    topP: body.top_p ?? null,
    topLogprobs: null,
    ...stopOf(body.stop),
    sampling: {
      ...(seed === undefined || seed === null ? {} : { seed }),
      ...(frequency === undefined || frequency === null ? {} : { frequency_penalty: frequency }),
      ...(presence === undefined || presence === null ? {} : { presence_penalty: presence }),
    },
    format: { type: 'text' },
    verbosity: null,
    reasoning: { effort: null, summary: null },
    encryptedReasoning: false,
    stream: body.stream === true,
  }
}

/** The prompts in their order, each as often as choices of it are wanted. */
export function promptsOf({ prompt, n }: CreateCompletion): string[] {
  const prompts = typeof prompt === 'string' ? [prompt] : prompt
  return prompts.flatMap((one) => Array.from({ length: n ?? 1 }, () => one))
}

export function checkChoices(body: CreateCompletion): void {
  if (promptsOf(body).length <= choicesMax) return
  throw new Fault('integer_above_max_value', `Prompts times 'n' must not exceed ${choicesMax}.`, { param: 'n' })
}

async function* sayingOf(index: number, parts: AsyncIterable<TurnPart>): AsyncGenerator<Said, void, void> {
  for await (const part of parts) yield { index, part }
}

/** What all choices say, as it comes. When one fails or nobody listens any more, the others end as well. */
async function* sayings(
  provider: Provider,
  body: CreateCompletion,
  signal: AbortSignal,
): AsyncGenerator<Said, void, void> {
  const ended = new AbortController()
  const either = AbortSignal.any([signal, ended.signal])
  const sources = promptsOf(body).map(
    (prompt, index) => () => sayingOf(index, streamTurn(provider, turnOf(body, prompt), either)),
  )
  try {
    yield* interleave(sources, choicesAtOnce)
  } finally {
    ended.abort()
  }
}

const textIn = (part: TurnPart) => (part.type === 'text' || part.type === 'refusal' ? part.delta : '')

const sum = (a: Usage, b: Usage): Usage =>
  usageOf({
    input: a.input_tokens + b.input_tokens,
    output: a.output_tokens + b.output_tokens,
    cached: a.input_tokens_details.cached_tokens + b.input_tokens_details.cached_tokens,
    reasoning: a.output_tokens_details.reasoning_tokens + b.output_tokens_details.reasoning_tokens,
  })

const header = (model: Model) => ({
  id: newId('cmpl-'),
  object: 'text_completion' as const,
  created: Math.floor(Date.now() / 1000),
  model: model.id,
})

export async function completePrompts(
  provider: Provider,
  model: Model,
  body: CreateCompletion,
  signal: AbortSignal,
): Promise<Completion> {
  const common = header(model)
  const choices: Completion['choices'] = promptsOf(body).map((_prompt, index) => ({
    index,
    text: '',
    logprobs: null,
    finish_reason: 'stop',
  }))
  let usage = usageOf({ input: 0, output: 0 })
  for await (const { index, part } of sayings(provider, body, signal)) {
    const choice = choices[index]
    if (choice === undefined) continue
    choice.text += textIn(part)
    if (part.type !== 'finish') continue
    choice.finish_reason = part.reason
    usage = sum(usage, part.usage)
  }
  return { ...common, choices, usage: chatUsageOf(usage) }
}

/** The same as a stream: pieces of different choices mix, each piece names its own. */
export async function streamPrompts(
  provider: Provider,
  model: Model,
  body: CreateCompletion,
  signal: AbortSignal,
  meter: CallMeter,
): Promise<AsyncGenerator<ServerEvent, void, void>> {
  const said = sayings(provider, body, signal)
  return streamed(said, await said.next(), model, body, meter)
}

async function* streamed(
  said: AsyncGenerator<Said, void, void>,
  first: IteratorResult<Said, void>,
  model: Model,
  { stream_options: options }: CreateCompletion,
  meter: CallMeter,
): AsyncGenerator<ServerEvent, void, void> {
  const common = header(model)
  const countWanted = options?.include_usage === true
  const noCount = countWanted ? { usage: null } : {}
  let usage = usageOf({ input: 0, output: 0 })
  try {
    for (let next = first; next.done !== true; next = await said.next()) {
      const { index, part } = next.value
      const text = textIn(part)
      meter.say(text.length)
      if (part.type === 'finish') usage = sum(usage, part.usage)
      else if (text === '') continue
      const finish = part.type === 'finish' ? part.reason : null
      const choices = [{ index, text, logprobs: null, finish_reason: finish }]
      yield eventBatch([JSON.stringify({ ...common, choices, ...noCount })])
    }
    await meter.done(chatUsageOf(usage))
  } finally {
    await said.return()
    await meter.cut()
  }
  const last = countWanted ? [JSON.stringify({ ...common, choices: [], usage: chatUsageOf(usage) })] : []
  yield eventBatch([...last, '[DONE]'])
}
