import { z } from 'zod'
import { CompletionUsage, samplingFields, stopField, StreamOptions, tokensField } from './chat-completions.ts'
import { operation } from './operation.ts'

const promptMax = 4 * 1024 * 1024
export const promptsMax = 128
export const choicesMax = 128

const text = z.string().max(promptMax)

/** Tokens mean something to one model only, and which one is behind a name may change. */
const Prompt = z.union([text, z.int(), z.array(z.int())]).transform((given, { addIssue }): string => {
  if (typeof given === 'string') return given
  const message = 'prompts are text here; lists of tokens are not taken'
  addIssue({ code: 'custom', params: { fault: 'unsupported_value' }, message, input: given })
  return z.NEVER
})

export const CreateCompletion = z.strictObject({
  model: z.string().min(1).max(256),
  /** One choice for each prompt of a list, in its order. */
  prompt: z.union([text, z.array(Prompt).min(1).max(promptsMax)]),
  n: z.int().min(1).max(choicesMax).nullish(),
  max_tokens: tokensField,
  stop: stopField,
  ...samplingFields,
  stream: z.boolean().nullish(),
  stream_options: StreamOptions.nullish(),
  user: z.string().max(256).optional(),
})
export type CreateCompletion = z.infer<typeof CreateCompletion>

export const Completion = z
  .strictObject({
    id: z.string(),
    object: z.literal('text_completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.strictObject({
        index: z.int(),
        text: z.string(),
        finish_reason: z.enum(['stop', 'length', 'content_filter']),
        logprobs: z.null(),
      }),
    ),
    usage: CompletionUsage,
  })
  .meta({ id: 'Completion' })
export type Completion = z.infer<typeof Completion>

export const createCompletion = operation({
  id: 'completions.create',
  method: 'POST',
  path: '/v1/completions',
  summary: 'Let a model answer one prompt or a list of them; whole or as a stream.',
  auth: 'project_key',
  scope: 'inference.write',
  query: z.strictObject({}),
  body: CreateCompletion,
  reply: Completion,
  faults: ['model_not_found', 'unsupported_value', 'context_length_exceeded', 'rate_limit_exceeded', 'provider_error'],
  limited: 'model',
})

export const completionOperations = [createCompletion] as const
