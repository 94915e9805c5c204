import type { Tool } from '@switchyard/contracts/responses/tools.ts'
import type { DeclaredTools } from '../../domain/declared-tools.ts'
import type { Model } from '../../domain/model.ts'
import type { ToolRef, TurnRequest } from '../../domain/turn.ts'
import type { SealedReasoning } from '../sealed-reasoning.ts'
import { responsesInput } from './input.ts'

type Body = Record<string, unknown>

/** The body of a response that the provider does not keep. `stop` does not exist on this wire. */
export function responsesRequest(
  model: Model,
  request: TurnRequest,
  tools: DeclaredTools,
  sealed: SealedReasoning,
): Body {
  const body: Body = {
    model: model.providerModel,
    input: responsesInput(request.items, tools, sealed),
    store: false,
    stream: request.stream,
  }
  if (request.instructions !== null && request.instructions !== '') body['instructions'] = request.instructions
  if (request.maxOutputTokens !== null) body['max_output_tokens'] = request.maxOutputTokens
  if (request.temperature !== null) body['temperature'] = request.temperature
  if (request.topP !== null) body['top_p'] = request.topP
  const include = includes(model, request)
  if (include.length > 0) body['include'] = include
  if (request.topLogprobs !== null) body['top_logprobs'] = request.topLogprobs
  addShape(body, model, request)
  if (request.tools.length > 0) addTools(body, request, tools)
  return body
}

/** The provider keeps nothing, so reasoning can only go on in the next turn if its sealed form comes back. */
function includes({ capabilities }: Model, { topLogprobs, encryptedReasoning }: TurnRequest): string[] {
  return [
    ...(capabilities.reasoning || encryptedReasoning ? ['reasoning.encrypted_content'] : []),
    ...(topLogprobs === null ? [] : ['message.output_text.logprobs']),
  ]
}

function addShape(body: Body, model: Model, { format, verbosity, reasoning }: TurnRequest): void {
  const text = { ...(format.type === 'text' ? {} : { format }), ...(verbosity === null ? {} : { verbosity }) }
  if (Object.keys(text).length > 0) body['text'] = text
  const { effort, summary } = reasoning
  if (!model.capabilities.reasoning || (effort === null && summary === null)) return
  body['reasoning'] = { ...(effort === null ? {} : { effort }), ...(summary === null ? {} : { summary }) }
}

function addTools(
  body: Body,
  { tools: declared, toolChoice, parallelToolCalls }: TurnRequest,
  tools: DeclaredTools,
): void {
  body['tools'] = declared.map((tool, at) => wireTool(tool, tools, at))
  if (toolChoice.mode === 'tool') body['tool_choice'] = namedTool(toolChoice.tool, tools)
  else if (toolChoice.mode !== 'auto') body['tool_choice'] = toolChoice.mode
  if (!parallelToolCalls) body['parallel_tool_calls'] = false
}

function wireTool(tool: Tool, tools: DeclaredTools, at: number): unknown {
  if (tool.type === 'custom') {
    const { type, name, description, format } = tool
    return {
      type,
      name,
      ...(description === undefined ? {} : { description }),
      ...(format === undefined ? {} : { format }),
    }
  }
  const wire = tools.functions[at]
  // The wire takes an absent `strict` for true, which most schemas do not stand.
  return {
    type: 'function',
    name: wire?.name,
    parameters: wire?.parameters,
    strict: wire?.strict ?? false,
    ...(wire?.description === null ? {} : { description: wire?.description }),
  }
}

function namedTool(tool: ToolRef, tools: DeclaredTools): unknown {
  return { type: tool.type === 'custom' ? 'custom' : 'function', name: tools.nameOf(tool) }
}
