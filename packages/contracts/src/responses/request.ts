import { z } from 'zod'
import { InputItem } from './items.ts'
import { ItemText } from './parts.ts'
import { ToolName, Tool, ToolChoice } from './tools.ts'

const itemsMax = 4_096
const toolsMax = 128
const metadataPairsMax = 16
const metadataKeyMax = 64
const metadataValueMax = 512
export const outputTokensMin = 16
const compactThresholdMin = 1_000

export const Metadata = z
  .record(z.string().max(metadataKeyMax), z.string().max(metadataValueMax))
  .refine((pairs) => Object.keys(pairs).length <= metadataPairsMax, `at most ${metadataPairsMax} pairs`)

export const Includable = z.enum([
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
])
export type Includable = z.infer<typeof Includable>

export const TextFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    name: ToolName,
    schema: z.record(z.string(), z.unknown()),
    description: z.string().optional(),
    strict: z.boolean().nullish(),
  }),
])
export type TextFormat = z.infer<typeof TextFormat>

export const TextOptions = z.strictObject({
  format: TextFormat.optional(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
})

export const ReasoningOptions = z.strictObject({
  effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
  /** Other values of these two ask for what no provider is told: they are refused, not dropped. */
  context: z.literal('auto').nullish(),
  mode: z.literal('standard').nullish(),
  generate_summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
})

export const Input = z.union([z.string(), z.array(InputItem).max(itemsMax)])

const CacheOptions = z.strictObject({
  mode: z.enum(['implicit', 'explicit']).optional(),
  ttl: z.enum(['30m', '12h']).optional(),
  prewarm: z.boolean().optional(),
  comparison_response_id: ItemText.nullish(),
})

/** What decides the context: shared by create, input_tokens and compact. */
export const contextFields = {
  input: Input.nullish(),
  instructions: z.string().nullish(),
  previous_response_id: ItemText.nullish(),
  conversation: z.union([ItemText, z.strictObject({ id: ItemText })]).nullish(),
}

export const shapeFields = {
  tools: z.array(Tool).max(toolsMax).nullish(),
  tool_choice: ToolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: TextOptions.nullish(),
  reasoning: ReasoningOptions.nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
}

export const CreateResponse = z.strictObject({
  model: z.string().min(1).max(256).optional(),
  ...contextFields,
  ...shapeFields,
  max_tool_calls: z.int().min(1).nullish(),
  max_output_tokens: z.int().min(outputTokensMin).nullish(),
  store: z.boolean().nullish(),
  background: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullish(),
  include: z.array(Includable).nullish(),
  metadata: Metadata.nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  context_management: z
    .array(
      z.strictObject({ type: z.literal('compaction'), compact_threshold: z.int().min(compactThresholdMin).nullish() }),
    )
    .max(1)
    .nullish(),
  service_tier: z.enum(['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast']).nullish(),
  prompt_cache_key: z.string().max(256).nullish(),
  prompt_cache_options: CacheOptions.optional(),
  prompt_cache_retention: z.enum(['in_memory', '24h']).nullish(),
  safety_identifier: z.string().max(128).nullish(),
  user: z.string().max(256).optional(),
  access_programs: z.record(z.string(), z.unknown()).nullish(),
})
export type CreateResponse = z.infer<typeof CreateResponse>
