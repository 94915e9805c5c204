import type { TextFormat } from '@switchyard/contracts/responses/request.ts'
import type { DeclaredTools } from '../../domain/declared-tools.ts'
import type { Model } from '../../domain/model.ts'
import type { TurnRequest } from '../../domain/turn.ts'
import { chatMessages } from './messages.ts'

type Body = Record<string, unknown>

/** The body of a chat completion. Fields that say nothing are left out: not every server knows every field. */
export function chatRequest(model: Model, request: TurnRequest, tools: DeclaredTools): Body {
  const body: Body = {
    model: model.providerModel,
    messages: chatMessages(request, tools),
    stream: request.stream,
    ...request.sampling,
  }
  if (request.stream) body['stream_options'] = { include_usage: true }
  // `max_tokens` is the name that every compatible server knows; its successor is not.
  if (request.maxOutputTokens !== null) body['max_tokens'] = request.maxOutputTokens
  if (request.temperature !== null) body['temperature'] = request.temperature
  if (request.topP !== null) body['top_p'] = request.topP
  if (request.topLogprobs !== null) {
    body['logprobs'] = true
    if (request.topLogprobs > 0) body['top_logprobs'] = request.topLogprobs
  }
  if (request.stop !== undefined && request.stop.length > 0) body['stop'] = request.stop
  if (request.verbosity !== null) body['verbosity'] = request.verbosity
  if (model.capabilities.reasoning && request.reasoning.effort !== null) {
    body['reasoning_effort'] = request.reasoning.effort
  }
  if (request.format.type !== 'text') body['response_format'] = responseFormat(request.format)
  if (tools.functions.length > 0) addTools(body, request, tools)
  return body
}

function addTools(body: Body, { toolChoice, parallelToolCalls }: TurnRequest, tools: DeclaredTools): void {
  body['tools'] = tools.functions.map(({ name, description, parameters, strict }) => ({
    type: 'function',
    function: {
      name,
      ...(description === null ? {} : { description }),
      parameters,
      ...(strict === null ? {} : { strict }),
    },
  }))
  if (toolChoice.mode === 'tool') {
    body['tool_choice'] = { type: 'function', function: { name: tools.nameOf(toolChoice.tool) } }
  } else if (toolChoice.mode !== 'auto') body['tool_choice'] = toolChoice.mode
  if (!parallelToolCalls) body['parallel_tool_calls'] = false
}

function responseFormat(format: Exclude<TextFormat, { type: 'text' }>): unknown {
  if (format.type === 'json_object') return format
  const { type, name, schema, description, strict } = format
  return {
    type,
    json_schema: {
      name,
      schema,
      ...(description === undefined ? {} : { description }),
      ...(strict === undefined || strict === null ? {} : { strict }),
    },
  }
}
