import type { OutputItem } from '@switchyard/contracts/responses/items.ts'
import type { Response, ResponseError, ResponseStatus, Usage } from '@switchyard/contracts/responses/response.ts'
import type { Tool } from '@switchyard/contracts/responses/tools.ts'
import type { Asked } from './asked.ts'

export type IncompleteReason = 'max_output_tokens' | 'content_filter'

/** A response at some moment of its life. */
export interface ResponseState {
  readonly id: string
  readonly createdAt: Date
  readonly asked: Asked
  readonly previousId: string | null
  readonly conversationId: string | null
  readonly status: ResponseStatus
  readonly completedAt: Date | null
  readonly error: ResponseError | null
  readonly incompleteReason: IncompleteReason | null
  readonly usage: Usage | null
  readonly output: readonly OutputItem[]
}

/** What a declaration left out is told as null: readers of the echo may rely on these fields. */
function toolView(tool: Tool): Tool {
  return tool.type === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool
}

const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)

export function responseView(state: ResponseState): Response {
  const { asked } = state
  return {
    id: state.id,
    object: 'response',
    created_at: seconds(state.createdAt),
    status: state.status,
    completed_at: state.status === 'completed' && state.completedAt !== null ? seconds(state.completedAt) : null,
    background: asked.background,
    error: state.error,
    incomplete_details: state.incompleteReason === null ? null : { reason: state.incompleteReason },
    instructions: asked.instructions,
    max_output_tokens: asked.maxOutputTokens,
    max_tool_calls: asked.maxToolCalls,
    metadata: { ...asked.metadata },
    model: asked.model,
    output: [...state.output],
    parallel_tool_calls: asked.parallelToolCalls,
    previous_response_id: state.previousId,
    ...(state.conversationId === null ? {} : { conversation: { id: state.conversationId } }),
    prompt_cache_key: asked.promptCacheKey,
    ...(asked.promptCacheOptions === null ? {} : { prompt_cache_options: { ...asked.promptCacheOptions } }),
    prompt_cache_retention: asked.promptCacheRetention,
    safety_identifier: asked.safetyIdentifier,
    reasoning: { ...asked.reasoning },
    service_tier: asked.serviceTier,
    store: asked.store,
    temperature: asked.temperature ?? 1,
    top_p: asked.topP ?? 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    text: { format: asked.text.format, verbosity: asked.text.verbosity ?? 'medium' },
    tool_choice: asked.toolChoice,
    tools: asked.tools.map(toolView),
    top_logprobs: asked.topLogprobs,
    truncation: asked.truncation,
    usage: state.usage,
    moderation: null,
    access_programs: null,
  }
}
