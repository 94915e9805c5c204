import { CreateChatCompletion, type ChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { CreateResponse } from '@switchyard/contracts/responses/request.ts'
import type { Response } from '@switchyard/contracts/responses/response.ts'
import { httpFault, ProviderFault, type Inference } from '#modules/inference/index.ts'
import type { Charged, Limits, UsageEntry } from '#modules/limits/index.ts'
import type { Responses } from '#modules/responses/index.ts'
import { TurnedAway } from '#platform/durable/work-rows.ts'
import { Fault } from '#platform/errors/fault.ts'
import { validate } from '#platform/http/validate.ts'
import { newRequestId } from '#platform/std/ids.ts'
import { RowError } from '../domain/row-error.ts'
import { RunCannotGoOn } from '../domain/run-cannot-go-on.ts'
import { sampleOfChat } from '../domain/sample.ts'
import type { Asking } from './patience.ts'
import type { RowMeter } from './row-meter.ts'

export interface AskUses {
  readonly inference: Pick<Inference, 'answerChat' | 'checkOffered' | 'getModel'>
  readonly responses: Pick<Responses, 'answer'>
  readonly limits: Pick<Limits, 'admitWork' | 'estimateInput' | 'recordOnce'>
}

/** Whom the calls of a row are charged to, and what ends them. */
export interface RowCall {
  readonly charged: Omit<Charged, 'requestId'>
  readonly meter: RowMeter
  /** Of a row whose run waits for whoever is away. */
  readonly asking?: Asking | undefined
  /** Of a row that others wait for: it does not wait for its limits at any cost. */
  letIn?<Given>(ask: (signal: AbortSignal) => Promise<Given>): Promise<Given>
  readonly signal: AbortSignal
}

const letIn = async <Given>(call: RowCall, ask: (signal: AbortSignal) => Promise<Given>): Promise<Given> =>
  call.letIn === undefined ? await ask(call.signal) : await call.letIn(ask)

/** Asks a model as `/v1/chat/completions` would; waits until the limits have room. */
export async function askChat(use: AskUses, call: RowCall, body: Record<string, unknown>): Promise<ChatCompletion> {
  return await told(call, body['model'], async () => {
    const asked = validate(CreateChatCompletion, body)
    const inputTokens = use.limits.estimateInput(asked)
    const work = {
      operation: 'chat_completions',
      model: asked.model,
      inputTokens,
      outputMax: asked.max_completion_tokens ?? null,
    } as const
    const charged = { ...call.charged, requestId: newRequestId() }
    const admission = await letIn(call, (signal) => use.limits.admitWork(charged, work, signal))
    const entry = (outcome: UsageEntry['outcome'], model: string, tokens: UsageEntry['tokens']): UsageEntry => ({
      ...charged,
      turn: 0,
      operation: work.operation,
      model,
      batch: false,
      outcome,
      tokens,
    })
    try {
      const answer = await use.inference.answerChat(asked, call.signal)
      const { usage } = sampleOfChat(answer)
      const tokens = { input: usage.prompt_tokens, cached: usage.cached_tokens, output: usage.completion_tokens }
      call.meter.add([entry('completed', answer.model, tokens)], () => admission.settle([tokens]))
      return answer
    } catch (error) {
      // One that was called off has used its input all the same.
      const tokens = { input: inputTokens, cached: 0, output: 0 }
      if (!call.signal.aborted) admission.leave()
      else {
        const { id: model } = use.inference.getModel(asked.model)
        call.meter.add([entry('interrupted', model, tokens)], () => admission.settle([tokens]))
      }
      throw error
    }
  })
}

/** Asks a model as `/v1/responses` would, tools of ours included; waits until the limits have room. */
export async function askResponse(
  use: AskUses,
  call: RowCall,
  body: Record<string, unknown>,
  seed: number | null,
): Promise<Response> {
  return await told(call, body['model'], async () => {
    const asked = validate(CreateResponse, body)
    use.inference.checkOffered(use.inference.getModel(asked.model ?? ''), { seed })
    const work = {
      operation: 'responses',
      model: asked.model ?? '',
      inputTokens: use.limits.estimateInput(asked),
      outputMax: asked.max_output_tokens ?? null,
    } as const
    const charged = { ...call.charged, requestId: newRequestId() }
    const admission = await letIn(call, (signal) => use.limits.admitWork(charged, work, signal))
    const used = call.meter.add.bind(call.meter)
    return await use.responses.answer({ admission, body: asked, seed, signal: call.signal, used })
  })
}

/** What says that no row of the run can be asked: waiting does not help, and other rows fare no better. */
const runFaults: ReadonlySet<string> = new Set(['model_not_found', 'insufficient_quota', 'region_not_allowed'])

/** A limit that has room only after longer than anybody waits; one that never has room concerns the row alone. */
const isLongWait = ({ code, retryAfterMs }: Fault) => code.endsWith('rate_limit_exceeded') && retryAfterMs !== undefined

/** Tells apart what concerns the row, the run, and nobody: the row is then asked again. */
async function told<Answer>({ asking, signal }: RowCall, model: unknown, ask: () => Promise<Answer>): Promise<Answer> {
  asking?.asks(`model ${String(model)}`)
  try {
    const answer = await ask()
    asking?.answered()
    return answer
  } catch (error) {
    signal.throwIfAborted()
    // In the middle of a row that takes several turns it comes as the cause of what a client would be told.
    const provider = error instanceof Fault ? error.cause : error
    if (provider instanceof ProviderFault && (provider.kind === 'rate_limited' || provider.kind === 'unavailable')) {
      throw new TurnedAway(provider.retryAfterMs, provider)
    }
    const fault = httpFault(error, 'input')
    if (!(fault instanceof Fault) || fault.code === 'internal_error') throw error
    if (runFaults.has(fault.code) || isLongWait(fault))
      throw new RunCannotGoOn(fault.code, fault.message, { cause: error })
    if (fault.code === 'server_overloaded') throw new TurnedAway(fault.retryAfterMs, error)
    // It did not take this row, and takes others.
    if (provider instanceof ProviderFault && provider.kind !== 'hung') asking?.answered()
    throw new RowError(fault.code, fault.message, { cause: error })
  }
}
