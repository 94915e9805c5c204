import type { ChatCompletion, CompletionUsage } from '@switchyard/contracts/chat-completions.ts'
import type { Admission, Limits, UsageEntry } from '#modules/limits/index.ts'
import { tokensOf } from '../domain/estimate-tokens.ts'
import type { Model } from '../domain/model.ts'

export interface MeteredCall {
  readonly operation: 'chat_completions' | 'completions'
  readonly model: Model
  /** Tokens of the input as estimated, for a call that is cut off before the provider has counted. */
  inputTokens(): number
}

/** Told how a model call ended. What it used is in the ledger before its last word goes out. */
export class CallMeter {
  readonly #limits: Pick<Limits, 'recordAlone'>
  readonly #admission: Admission
  readonly #call: MeteredCall
  #charsSaid = 0
  #over = false

  constructor(limits: Pick<Limits, 'recordAlone'>, admission: Admission, call: MeteredCall) {
    this.#limits = limits
    this.#admission = admission
    this.#call = call
  }

  say(chars: number): void {
    this.#charsSaid += chars
  }

  /** A client may leave before anybody has begun to read the stream that would say so. */
  cutOn(signal: AbortSignal, failed: (err: unknown) => void): void {
    signal.addEventListener('abort', () => void this.cut().catch(failed), { once: true })
  }

  async done(usage: CompletionUsage): Promise<void> {
    await this.#end('completed', tokensIn(usage))
  }

  /** It ended before the provider had counted: what was said until then is counted instead. */
  async cut(): Promise<void> {
    const output = tokensOf(this.#charsSaid)
    await this.#end('interrupted', { input: this.#call.inputTokens(), cached: 0, output })
  }

  async #end(outcome: UsageEntry['outcome'], tokens: UsageEntry['tokens']): Promise<void> {
    if (this.#over) return
    this.#over = true
    const { operation, model } = this.#call
    const { charged } = this.#admission
    try {
      await this.#limits.recordAlone({ ...charged, turn: 0, operation, model: model.id, batch: false, outcome, tokens })
    } finally {
      this.#admission.settle([tokens])
    }
  }
}

export function tokensIn(usage: CompletionUsage): UsageEntry['tokens'] {
  return {
    input: usage.prompt_tokens,
    cached: (usage.prompt_tokens_details as { cached_tokens?: number } | undefined)?.cached_tokens ?? 0,
    output: usage.completion_tokens,
  }
}

/** A client that left before there was an answer has used its input all the same. */
export async function orCut<Result>(
  meter: CallMeter,
  signal: AbortSignal,
  answer: () => Promise<Result>,
): Promise<Result> {
  try {
    return await answer()
  } catch (error) {
    if (signal.aborted) await meter.cut()
    throw error
  }
}

/** A whole answer, metered. */
export async function metered<Answer extends { usage?: ChatCompletion['usage'] }>(
  meter: CallMeter,
  signal: AbortSignal,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  return await orCut(meter, signal, async () => {
    const whole = await answer()
    if (whole.usage !== undefined) await meter.done(whole.usage)
    return whole
  })
}
