import type { LanguageModelV4CallOptions, LanguageModelV4ToolChoice } from '@ai-sdk/provider'
import type { DeclaredTools } from '../../domain/declared-tools.ts'
import type { Model } from '../../domain/model.ts'
import type { TurnRequest } from '../../domain/turn.ts'
import type { SealedReasoning } from '../sealed-reasoning.ts'
import { promptOf } from './prompt.ts'

type Options = LanguageModelV4CallOptions
type Effort = NonNullable<Options['reasoning']>

/** What a package is asked. Logprobs and verbosity have no place there. */
export function callOptions(
  model: Model,
  request: TurnRequest,
  tools: DeclaredTools,
  sealed: SealedReasoning,
): Options {
  const { temperature, topP, stop, reasoning } = request
  return {
    prompt: promptOf(request, tools, sealed),
    maxOutputTokens: request.maxOutputTokens ?? model.maxOutputTokens,
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { topP }),
    ...(stop === undefined ? {} : { stopSequences: [...stop] }),
    ...(reasoning.effort === null || !model.capabilities.reasoning ? {} : { reasoning: reasoning.effort as Effort }),
    ...formatOption(request),
    ...toolOptions(request, tools),
  }
}

function formatOption({ format }: TurnRequest): Pick<Options, 'responseFormat'> {
  if (format.type === 'text') return {}
  if (format.type === 'json_object') return { responseFormat: { type: 'json' } }
  const { name, schema, description } = format
  return { responseFormat: { type: 'json', name, schema, ...(description === undefined ? {} : { description }) } }
}

function toolOptions({ toolChoice }: TurnRequest, tools: DeclaredTools): Pick<Options, 'tools' | 'toolChoice'> {
  if (tools.functions.length === 0) return {}
  const choice: LanguageModelV4ToolChoice =
    toolChoice.mode === 'tool' ? { type: 'tool', toolName: tools.nameOf(toolChoice.tool) } : { type: toolChoice.mode }
  return {
    tools: tools.functions.map(({ name, description, parameters }) => ({
      type: 'function',
      name,
      inputSchema: parameters,
      ...(description === null ? {} : { description }),
    })),
    toolChoice: choice,
  }
}
