import type { RunDataSource } from '@switchyard/contracts/evals/data-sources.ts'
import {
  asChat,
  asInput,
  compileMessages,
  referredMessages,
  renderMessages,
  shownMessages,
  shownReferred,
} from './messages.ts'
import { noSampling, type Sampling } from './sample.ts'
import type { TemplateScope } from './template.ts'

/** What a row asks the model for. */
export interface RowAsk {
  readonly body: Record<string, unknown>
  readonly shown: { role: string; content: string }[]
}

/** How the rows of a run get their samples. */
export interface AskPlan {
  readonly kind: 'completions' | 'responses'
  readonly sampling: Sampling
  ask(scope: TemplateScope): RowAsk
}

/** Where the messages of a row are when the run does not say: stored requests bring them. */
const storedInput = 'item.input'

/** What a stored response was told besides its messages. */
function instructionsOf({ item }: TemplateScope): { instructions?: string } {
  const { instructions } = item as { instructions?: unknown }
  return typeof instructions === 'string' ? { instructions } : {}
}

const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))

/** Null: the rows bring their samples. */
export function planAsking(source: RunDataSource): AskPlan | null {
  if (source.type === 'jsonl' || source.model === undefined) return null
  const { type: kind, model, input_messages: input, sampling_params: params } = source
  const template = input?.type === 'template' ? compileMessages(input.template) : null
  const reference = input?.type === 'item_reference' ? input.item_reference : storedInput
  const messagesOf = (scope: TemplateScope) => {
    if (template === null) {
      const messages = referredMessages(reference, scope)
      return { messages, shown: shownReferred(messages) }
    }
    const messages = renderMessages(template, scope)
    return { messages: kind === 'responses' ? asInput(messages) : asChat(messages), shown: shownMessages(messages) }
  }
  const { temperature, top_p: topP, seed, max_completion_tokens: outputMax } = params ?? {}
  const fixed =
    source.type === 'responses'
      ? given({
          model,
          temperature,
          top_p: topP,
          max_output_tokens: outputMax,
          reasoning: params?.reasoning_effort == null ? null : { effort: params.reasoning_effort },
          text: source.sampling_params?.text,
          tools: source.sampling_params?.tools,
        })
      : given({
          model,
          temperature,
          top_p: topP,
          seed,
          max_completion_tokens: outputMax,
          reasoning_effort: params?.reasoning_effort,
          response_format: source.sampling_params?.response_format,
          tools: source.sampling_params?.tools,
        })
  const sampling =
    params === null
      ? noSampling
      : { temperature: temperature ?? null, topP: topP ?? null, seed: seed ?? null, outputMax: outputMax ?? null }
  return {
    kind,
    sampling,
    ask(scope) {
      const { messages, shown } = messagesOf(scope)
      if (kind === 'completions') return { body: { ...fixed, messages }, shown }
      return { body: { ...fixed, ...(input === undefined ? instructionsOf(scope) : {}), input: messages }, shown }
    },
  }
}
