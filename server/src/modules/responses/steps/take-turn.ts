import type { ResponseError } from '@switchyard/contracts/responses/response.ts'
import type { StreamEventBody } from '@switchyard/contracts/responses/stream.ts'
import { ProviderFault, type Inference, type TurnPart, type TurnRequest } from '#modules/inference/index.ts'
import type { ContainerShell } from '#modules/containers/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { addUsage, noUsage, type Ending, type LiveResponse, type Moved } from '../domain/live-response.ts'
import { turnTools, type TurnTools } from '../domain/tool-choice.ts'
import type { TurnMeter } from '../domain/metering.ts'
import { TurnWriter } from '../domain/turn-writer.ts'
import { citations } from './cite-files.ts'
import type { ContextReader } from './read-context.ts'

export interface TakeTurnUses {
  readonly inference: Pick<Inference, 'streamTurn'>
  readonly context: ContextReader
  readonly shell: Pick<ContainerShell, 'files'>
}

/** A provider that ignores `tool_choice: required` is asked this often in all. */
const requiredTriesMax = 2

/** Events as they come, in the lumps they come in. The result is what the move added. */
export type Telling = AsyncGenerator<readonly StreamEventBody[], Moved>

/** One model call. With `tell` false nobody listens, and no event is made. */
export async function* takeTurn(
  use: TakeTurnUses,
  live: LiveResponse,
  { tell, signal, meter }: { tell: boolean; signal: AbortSignal; meter: TurnMeter },
): Telling {
  const left = tokensLeft(live)
  if (left !== null && left <= 0) return nothing(live, { status: 'incomplete', reason: 'max_output_tokens' })
  const tools = turnTools(live)
  let spent = noUsage
  for (let tries = 1; ; tries += 1) {
    const request = await turnRequest(use, live, tools, { left, tell, insist: tries > 1 }).catch(faultOnly)
    // What the request names is gone since it was accepted, a file perhaps: nothing mends that.
    if (request instanceof Fault) return nothing(live, unreadable(request), spent)
    const told: StreamEventBody[] = []
    const writer = new TurnWriter({
      emit: tell ? (event) => told.push(event) : null,
      outputIndex: live.nextOutputIndex,
      shellPlace: live.asked.shellPlace,
      sealReasoning: live.asked.include.includes('reasoning.encrypted_content')
        ? (text) => use.context.sealReasoning(live.projectId, text)
        : null,
    })
    // Text that comes instead of the call that was demanded is not shown before it is clear that the call comes too.
    let held = tools.required
    meter.begin(() => use.context.tokens(live.projectId, live.asked, [...live.context, ...live.output]))
    try {
      for await (const part of use.inference.streamTurn(request, signal)) {
        if ('delta' in part) meter.say(part.delta.length)
        else if (part.type === 'finish') meter.finish(part.usage)
        if (part.type === 'finish' && !held) writer.cite(await citations(use.shell, live, writer.openText))
        writer.take(part)
        if (part.type === 'tool-start') held = false
        if (!held && told.length > 0) yield told.splice(0)
      }
    } catch (error) {
      if (!(error instanceof ProviderFault) && !signal.aborted) throw error
      if (!signal.aborted) meter.refused()
      writer.cutOff()
      if (!held && told.length > 0) yield told.splice(0)
      return cutShort(live, writer, held, addUsage(spent, writer.finish?.usage ?? noUsage), signal, error)
    }
    const usage = addUsage(spent, writer.finish?.usage ?? noUsage)
    const reason = writer.finish?.reason ?? 'stop'
    if (!held || reason !== 'stop') {
      if (told.length > 0) yield told
      // A model that says nothing has finished: asked again, it would say nothing again.
      const silent: Ending | null = writer.items.length === 0 ? { status: 'completed' } : null
      return moved(writer, usage, endingOf(reason) ?? silent)
    }
    if (tries >= requiredTriesMax) return nothing(live, { status: 'failed', error: notCalled }, usage)
    spent = usage
  }
}

export const unreadable = (fault: Fault): Ending => ({
  status: 'failed',
  error: { code: 'invalid_prompt', message: fault.message },
  cause: fault,
})

export function faultOnly(error: unknown): Fault {
  if (error instanceof Fault) return error
  throw error
}

const notCalled: ResponseError = {
  code: 'server_error',
  message: `tool_choice demands a tool call, but the model made none in ${requiredTriesMax} tries.`,
}

function moved(writer: TurnWriter, usage: Moved['usage'], ending: Ending | null): Moved {
  return { items: writer.items, usage, nextOutputIndex: writer.nextOutputIndex, ending }
}

function nothing(live: LiveResponse, ending: Ending, usage = noUsage): Moved {
  return { items: [], usage, nextOutputIndex: live.nextOutputIndex, ending }
}

function cutShort(
  live: LiveResponse,
  writer: TurnWriter,
  held: boolean,
  usage: Moved['usage'],
  signal: AbortSignal,
  error: unknown,
): Moved {
  const ending: Ending = signal.aborted
    ? { status: 'cancelled' }
    : { status: 'failed', error: errorOf(error as ProviderFault), cause: error }
  return held ? nothing(live, ending, usage) : moved(writer, usage, ending)
}

function endingOf(reason: Extract<TurnPart, { type: 'finish' }>['reason']): Ending | null {
  if (reason === 'stop') return null
  return { status: 'incomplete', reason: reason === 'length' ? 'max_output_tokens' : 'content_filter' }
}

function errorOf(fault: ProviderFault): ResponseError {
  if (fault.kind === 'rate_limited') return { code: 'rate_limit_exceeded', message: fault.message }
  if (fault.kind === 'context_length' || fault.kind === 'refused')
    return { code: 'invalid_prompt', message: fault.message }
  return { code: 'server_error', message: fault.message }
}

/** Null: no limit was asked for. */
function tokensLeft({ asked, usage }: LiveResponse): number | null {
  return asked.maxOutputTokens === null ? null : asked.maxOutputTokens - usage.output_tokens
}

async function turnRequest(
  use: TakeTurnUses,
  live: LiveResponse,
  { tools, choice }: TurnTools,
  { left, tell, insist }: { left: number | null; tell: boolean; insist: boolean },
): Promise<TurnRequest> {
  const { asked } = live
  const items = await use.context.forModel(live)
  const wantsLogprobs = asked.topLogprobs > 0 || asked.include.includes('message.output_text.logprobs')
  return {
    model: asked.model,
    instructions:
      [asked.instructions, asked.shellAbout, insist ? insistence : null].filter(isSaid).join('\n\n') || null,
    items,
    tools,
    toolChoice: choice,
    parallelToolCalls: asked.parallelToolCalls,
    maxOutputTokens: left,
    temperature: asked.temperature,
    topP: asked.topP,
    topLogprobs: wantsLogprobs ? asked.topLogprobs : null,
    ...(asked.seed === undefined ? {} : { sampling: { seed: asked.seed } }),
    format: asked.text.format,
    verbosity: asked.text.verbosity,
    reasoning: asked.reasoning,
    encryptedReasoning: asked.include.includes('reasoning.encrypted_content'),
    stream: tell,
  }
}

const isSaid = (text: string | null | undefined): text is string => text != null && text !== ''

const insistence = 'Answer with a call of one of the tools, and with nothing else.'
