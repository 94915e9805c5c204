import type { ChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import type { OutputSample } from '@switchyard/contracts/evals/output-items.ts'
import type { Response } from '@switchyard/contracts/responses/response.ts'

export interface SampleUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly cached_tokens: number
}

/** What templates and graders know of an output as `sample`. */
export interface Sample {
  readonly output_text: string
  /** The text read as JSON; null when it is none. */
  readonly output_json: unknown
  readonly output_tools: readonly unknown[]
  readonly choices: readonly unknown[]
  readonly model: string
  readonly finish_reason: string | null
  readonly usage: SampleUsage
}

/** What JSON begins with. Most answers are plain words, and an error for each would cost more than all else here. */
const jsonBegins = /^[ \t\r\n]*[[{"\-\dtfn]/

function jsonOf(text: string): unknown {
  if (!jsonBegins.test(text)) return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

const count = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0)

export function sampleOfChat({ model, choices, usage }: ChatCompletion): Sample {
  const [first] = choices
  const text = first?.message.content ?? ''
  const details = usage['prompt_tokens_details'] as { cached_tokens?: unknown } | null | undefined
  return {
    output_text: text,
    output_json: jsonOf(text),
    output_tools: first?.message.tool_calls ?? [],
    choices,
    model,
    finish_reason: first?.finish_reason ?? null,
    usage: {
      prompt_tokens: usage.prompt_tokens,
      completion_tokens: usage.completion_tokens,
      total_tokens: usage.total_tokens,
      cached_tokens: count(details?.cached_tokens),
    },
  }
}

const finishReasonOf = ({ status, incomplete_details: incomplete }: Response): string => {
  if (status !== 'incomplete') return 'stop'
  return incomplete?.reason === 'content_filter' ? 'content_filter' : 'length'
}

/** A response in the form that a chat completion would have had, so that one template reads both. */
export function sampleOfResponse(response: Response): Sample {
  const texts: string[] = []
  const tools: unknown[] = []
  for (const item of response.output) {
    if (item.type === 'message') {
      for (const part of item.content) if (part.type === 'output_text') texts.push(part.text)
    }
    if (item.type === 'function_call') {
      const { call_id: id, name, arguments: given } = item
      tools.push({ id, type: 'function', function: { name, arguments: given } })
    }
  }
  const text = texts.join('')
  const reason = tools.length > 0 ? 'tool_calls' : finishReasonOf(response)
  const calls = tools.length === 0 ? {} : { tool_calls: tools }
  const { usage } = response
  return {
    output_text: text,
    output_json: jsonOf(text),
    output_tools: tools,
    choices: [{ index: 0, finish_reason: reason, message: { role: 'assistant', content: text, ...calls } }],
    model: response.model,
    finish_reason: reason,
    usage: {
      prompt_tokens: usage?.input_tokens ?? 0,
      completion_tokens: usage?.output_tokens ?? 0,
      total_tokens: usage?.total_tokens ?? 0,
      cached_tokens: usage?.input_tokens_details.cached_tokens ?? 0,
    },
  }
}

/** An output that a row brings may have any of the fields; what follows from the text need not be there. */
export function givenSample(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const text = given['output_text']
  return typeof text === 'string' && given['output_json'] === undefined
    ? { ...given, output_json: jsonOf(text) }
    : given
}

/** What was asked for with the sample. */
export interface Sampling {
  readonly temperature: number | null
  readonly topP: number | null
  readonly seed: number | null
  readonly outputMax: number | null
}

export const noSampling: Sampling = { temperature: null, topP: null, seed: null, outputMax: null }

/** A sample as an output item shows it. */
export function shownSample(
  sample: Readonly<Partial<Record<keyof Sample, unknown>>> | null,
  input: OutputSample['input'],
  sampling: Sampling,
  error: OutputSample['error'],
): OutputSample {
  const text = sample?.output_text
  const usage = sample?.usage as Partial<SampleUsage> | undefined
  return {
    input,
    output: typeof text === 'string' ? [{ role: 'assistant', content: text }] : [],
    finish_reason: typeof sample?.finish_reason === 'string' ? sample.finish_reason : null,
    model: typeof sample?.model === 'string' ? sample.model : null,
    usage:
      usage == null
        ? null
        : {
            prompt_tokens: count(usage.prompt_tokens),
            completion_tokens: count(usage.completion_tokens),
            total_tokens: count(usage.total_tokens),
            cached_tokens: count(usage.cached_tokens),
          },
    error,
    temperature: sampling.temperature,
    max_completion_tokens: sampling.outputMax,
    top_p: sampling.topP,
    seed: sampling.seed,
  }
}
