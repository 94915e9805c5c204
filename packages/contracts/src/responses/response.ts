import { z } from 'zod'
import { OutputItem } from './items.ts'
import { Metadata, TextFormat } from './request.ts'
import { Tool, ToolChoice } from './tools.ts'

export const ResponseStatus = z.enum(['queued', 'in_progress', 'completed', 'failed', 'incomplete', 'cancelled'])
export type ResponseStatus = z.infer<typeof ResponseStatus>

export const Usage = z.strictObject({
  input_tokens: z.int(),
  input_tokens_details: z.strictObject({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.strictObject({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
})
export type Usage = z.infer<typeof Usage>

export const ResponseError = z.strictObject({
  code: z.enum(['server_error', 'rate_limit_exceeded', 'invalid_prompt', 'invalid_image']),
  message: z.string(),
  type: z.string().nullish(),
  param: z.string().nullish(),
})
export type ResponseError = z.infer<typeof ResponseError>

export const IncompleteDetails = z.strictObject({
  reason: z.enum(['max_output_tokens', 'max_messages', 'content_filter', 'steered']).optional(),
})

export const Response = z.strictObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  status: ResponseStatus,
  completed_at: z.int().nullable(),
  background: z.boolean(),
  error: ResponseError.nullable(),
  incomplete_details: IncompleteDetails.nullable(),
  instructions: z.string().nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  metadata: Metadata,
  model: z.string(),
  output: z.array(OutputItem),
  parallel_tool_calls: z.boolean(),
  previous_response_id: z.string().nullable(),
  conversation: z.strictObject({ id: z.string() }).nullish(),
  prompt_cache_key: z.string().nullable(),
  prompt_cache_options: z.strictObject({ mode: z.string(), ttl: z.string() }).optional(),
  prompt_cache_retention: z.string().nullable(),
  safety_identifier: z.string().nullable(),
  reasoning: z.strictObject({ effort: z.string().nullable(), summary: z.string().nullable() }),
  service_tier: z.string(),
  store: z.boolean(),
  temperature: z.number(),
  top_p: z.number(),
  /** No request can ask for penalties, but the open form of the response has them. */
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  text: z.strictObject({ format: TextFormat, verbosity: z.string() }),
  tool_choice: ToolChoice,
  tools: z.array(Tool),
  top_logprobs: z.int(),
  truncation: z.enum(['auto', 'disabled']),
  usage: Usage.nullable(),
  moderation: z.null(),
  access_programs: z.null(),
})
export type Response = z.infer<typeof Response>
