import { z } from 'zod'
import { ChatMessage, ChatToolCall } from './chat-messages.ts'
import { operation } from './operation.ts'
import { Metadata } from './responses/request.ts'
import { ToolName } from './responses/tools.ts'

const messagesMax = 4_096
const toolsMax = 128
const stopsMax = 4
const stopMax = 256
const descriptionMax = 65_536
const labelMax = 256

/** A value of the API that this server does not offer is refused as that, not as one that nobody knows. */
const only = <Value>(value: Value, message: string) => ({
  check: (given: unknown) => given === value || given === null || given === undefined,
  error: { error: message, params: { fault: 'unsupported_value' } },
})

const one = only(1, 'this server makes one choice; ask again for another')

const choicesOfOne = z.int().min(1).refine(one.check, one.error).nullish()
export const stopField = z
  .union([z.string().min(1).max(stopMax), z.array(z.string().min(1).max(stopMax)).max(stopsMax)])
  .nullish()
export const samplingFields = {
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  seed: z.int().nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
}
export const StreamOptions = z.strictObject({
  include_usage: z.boolean().optional(),
  include_obfuscation: z.literal(false).optional(),
})
export const tokensField = z.int().min(1).nullish()

const ChatFunction = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: ToolName,
    description: z.string().max(descriptionMax).optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullish(),
  }),
})

/** Every other tool of the API lives on Responses; a shell above all. */
const ElsewhereTool = z
  .looseObject({ type: z.enum(['shell', 'local_shell', 'apply_patch', 'custom']) })
  .transform(({ type }, { addIssue }): never => {
    const message = `the ${type} tool is available on /v1/responses only`
    addIssue({ code: 'custom', params: { fault: 'unsupported_tool' }, path: ['type'], message, input: type })
    return z.NEVER
  })

/** Functions, and what is refused by its name. */
export const ChatTool = z.discriminatedUnion('type', [ChatFunction, ElsewhereTool])

export const ResponseFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    json_schema: z.strictObject({
      name: ToolName,
      schema: z.record(z.string(), z.unknown()).optional(),
      description: z.string().max(descriptionMax).optional(),
      strict: z.boolean().nullish(),
    }),
  }),
])

export const CreateChatCompletion = z.strictObject({
  model: z.string().min(1).max(256),
  messages: z.array(ChatMessage).min(1).max(messagesMax),
  stream: z.boolean().nullish(),
  stream_options: StreamOptions.nullish(),
  tools: z.array(ChatTool).max(toolsMax).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: ToolName }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: ResponseFormat.optional(),
  max_tokens: tokensField,
  max_completion_tokens: tokensField,
  n: choicesOfOne,
  stop: stopField,
  ...samplingFields,
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
  /** Kept for `GET /v1/chat/completions`, with its metadata. */
  store: z.boolean().nullish(),
  metadata: Metadata.nullish(),
  service_tier: z.enum(['auto', 'default']).nullish(),
  user: z.string().max(labelMax).optional(),
  safety_identifier: z.string().max(labelMax).nullish(),
  prompt_cache_key: z.string().max(labelMax).nullish(),
})
export type CreateChatCompletion = z.infer<typeof CreateChatCompletion>

/** Providers of this wire say more than the contract: it is passed on. */
export const CompletionUsage = z.looseObject({
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative(),
  total_tokens: z.int().nonnegative(),
})

export type CompletionUsage = z.infer<typeof CompletionUsage>

const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call'])

export const ChatCompletion = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    /** The snapshot that answered. */
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        finish_reason: finishReason,
        logprobs: z.unknown(),
        message: z.looseObject({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.string().nullish(),
          tool_calls: z.array(z.looseObject(ChatToolCall.shape)).optional(),
        }),
      }),
    ),
    usage: CompletionUsage,
  })
  .meta({ id: 'ChatCompletion' })
export type ChatCompletion = z.infer<typeof ChatCompletion>

export const createChatCompletion = operation({
  id: 'chat.completions.create',
  method: 'POST',
  path: '/v1/chat/completions',
  summary: 'Let a model go on with a conversation; whole or as a stream.',
  auth: 'project_key',
  scope: 'inference.write',
  query: z.strictObject({}),
  body: CreateChatCompletion,
  reply: ChatCompletion,
  faults: [
    'model_not_found',
    'unsupported_tool',
    'unsupported_value',
    'context_length_exceeded',
    'rate_limit_exceeded',
    'provider_error',
  ],
  limited: 'model',
})

export const chatCompletionOperations = [createChatCompletion] as const
