import { z } from 'zod'
import { ResponseId } from '../ids.ts'
import { operation } from '../operation.ts'
import { Order, pageOf, pageQuery } from '../page.ts'
import { Compaction, Message, StoredItem } from './items.ts'
import { ItemText } from './parts.ts'
import { contextFields, CreateResponse, Includable, Input, shapeFields } from './request.ts'
import { Response, Usage } from './response.ts'

const params = z.object({ response_id: ResponseId })
const include = z.array(Includable).optional()
const flag = z.enum(['true', 'false']).transform((text) => text === 'true')

/** The beta namespace of the SDK calls the same paths with `beta=true`. */
const beta = z.string().max(8).optional()

export const createResponse = operation({
  id: 'responses.create',
  method: 'POST',
  path: '/v1/responses',
  summary: 'Let a model answer, with tools; at once, as a stream, or in the background.',
  auth: 'project_key',
  scope: 'responses.write',
  query: z.strictObject({ beta }),
  body: CreateResponse,
  reply: Response,
  faults: [
    'model_not_found',
    'not_found',
    'previous_response_not_found',
    'context_length_exceeded',
    'unsupported_tool',
    'duplicate_tool',
    'mutually_exclusive_parameters',
    'invalid_encrypted_content',
    'conversation_locked',
    'rate_limit_exceeded',
    'provider_error',
  ],
  creates: true,
  limited: 'model',
})

export const retrieveResponse = operation({
  id: 'responses.retrieve',
  method: 'GET',
  path: '/v1/responses/{response_id}',
  summary: 'Read a stored response, or replay its events with `stream=true` from any point.',
  auth: 'project_key',
  scope: 'responses.read',
  params,
  query: z.strictObject({
    include,
    include_obfuscation: flag.optional(),
    stream: flag.optional(),
    starting_after: z.coerce.number().int().min(0).optional(),
    beta,
  }),
  reply: Response,
  faults: ['not_found', 'stream_not_available'],
})

export const deleteResponse = operation({
  id: 'responses.delete',
  method: 'DELETE',
  path: '/v1/responses/{response_id}',
  summary: 'Delete a stored response; one that still runs is cancelled first.',
  auth: 'project_key',
  scope: 'responses.write',
  params,
  query: z.strictObject({ beta }),
  reply: z.strictObject({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) }),
  faults: ['not_found'],
})

export const cancelResponse = operation({
  id: 'responses.cancel',
  method: 'POST',
  path: '/v1/responses/{response_id}/cancel',
  summary: 'Stop a background response. Asking again, or too late, returns it as it is.',
  auth: 'project_key',
  scope: 'responses.write',
  params,
  query: z.strictObject({ beta }),
  body: z.strictObject({}),
  bodyOptional: true,
  reply: Response,
  faults: ['not_found', 'response_not_cancellable'],
})

export const listInputItems = operation({
  id: 'responses.input_items.list',
  method: 'GET',
  path: '/v1/responses/{response_id}/input_items',
  summary: "List the items of a response's own input.",
  auth: 'project_key',
  scope: 'responses.read',
  params,
  query: pageQuery().extend({ after: ItemText.optional(), order: Order, include, beta }),
  reply: pageOf(StoredItem),
  faults: ['not_found'],
})

export const countInputTokens = operation({
  id: 'responses.input_tokens.count',
  method: 'POST',
  path: '/v1/responses/input_tokens',
  summary: 'Estimate how many tokens a request would send, without sending it.',
  auth: 'project_key',
  scope: 'responses.read',
  query: z.strictObject({ beta }),
  body: z.strictObject({
    model: z.string().min(1).max(256).nullish(),
    ...contextFields,
    ...shapeFields,
    personality: z.string().max(64).nullish(),
  }),
  reply: z.strictObject({ object: z.literal('response.input_tokens'), input_tokens: z.int() }),
  faults: [
    'model_not_found',
    'not_found',
    'previous_response_not_found',
    'mutually_exclusive_parameters',
    'invalid_encrypted_content',
    'unsupported_tool',
    'duplicate_tool',
  ],
})

export const compactResponse = operation({
  id: 'responses.compact',
  method: 'POST',
  path: '/v1/responses/compact',
  summary: 'Replace a long context by its user messages and one sealed summary.',
  auth: 'project_key',
  scope: 'responses.write',
  query: z.strictObject({ beta }),
  body: z.strictObject({
    model: z.string().min(1).max(256),
    input: Input.nullish(),
    instructions: z.string().nullish(),
    previous_response_id: contextFields.previous_response_id,
    prompt_cache_key: z.string().max(256).nullish(),
    prompt_cache_options: z.strictObject({ mode: z.string().optional(), ttl: z.string().optional() }).nullish(),
    prompt_cache_retention: z.enum(['in_memory', '24h']).nullish(),
    service_tier: z.enum(['auto', 'default', 'fast', 'flex', 'priority']).nullish(),
  }),
  reply: z.strictObject({
    id: z.string(),
    object: z.literal('response.compaction'),
    created_at: z.int(),
    output: z.array(z.discriminatedUnion('type', [Message, Compaction])),
    usage: Usage,
  }),
  faults: [
    'model_not_found',
    'previous_response_not_found',
    'invalid_encrypted_content',
    'provider_error',
    'rate_limit_exceeded',
    'context_length_exceeded',
  ],
  limited: 'model',
})

/** The upgrade of the same path: many responses over one connection. */
export const openResponsesSocket = operation({
  id: 'responses.connect',
  method: 'GET',
  path: '/v1/responses',
  summary: 'Open a WebSocket that creates responses one after the other, or side by side in lanes.',
  auth: 'project_key',
  scope: 'responses.write',
  query: z.strictObject({ beta }),
  reply: z.strictObject({}),
})

export const responseOperations = [
  createResponse,
  countInputTokens,
  compactResponse,
  retrieveResponse,
  deleteResponse,
  cancelResponse,
  listInputItems,
] as const
