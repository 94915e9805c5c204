import { z } from 'zod'
import { operation } from '../operation.ts'
import { ApiSource, BatchFlag, choices, group, texts, usagePage, usageQuery } from './usage-query.ts'

const count = z.int().nonnegative()
const byKey = { project_id: group, user_id: group, api_key_id: group }
const byModel = { ...byKey, model: group }
const keyFilters = { api_key_ids: texts, user_ids: texts }
const modelFilters = { ...keyFilters, models: texts }
const modelGroups = ['project_id', 'user_id', 'api_key_id', 'model'] as const
const turnGroups = [...modelGroups, 'batch', 'service_tier', 'api_source'] as const

const usageOperation = <const Id extends string, Query extends z.ZodType, Result extends z.ZodType>(
  kind: Id,
  query: Query,
  result: Result,
) =>
  operation({
    id: `admin.organization.usage.${kind}`,
    method: 'GET',
    path: `/v1/organization/usage/${kind}`,
    summary: `Read the usage of ${kind.replaceAll('_', ' ')}, in buckets of time.`,
    auth: 'admin_key',
    scope: 'organization.usage.read',
    query,
    reply: usagePage(result),
  })

export const CompletionsUsage = z.strictObject({
  object: z.literal('organization.usage.completions.result'),
  /** Cached ones included. */
  input_tokens: count,
  output_tokens: count,
  input_cached_tokens: count,
  input_uncached_tokens: count,
  input_audio_tokens: count,
  output_audio_tokens: count,
  num_model_requests: count,
  ...byModel,
  batch: z.boolean().nullable(),
  service_tier: group,
  api_source: ApiSource,
})
export type CompletionsUsage = z.infer<typeof CompletionsUsage>

export const retrieveCompletionsUsage = usageOperation(
  'completions',
  usageQuery(turnGroups).extend({ ...modelFilters, batch: BatchFlag }),
  CompletionsUsage,
)

/** Nothing here makes such usage yet: the buckets are right, and empty. */
export const retrieveDecisionsUsage = usageOperation(
  'decisions',
  usageQuery(turnGroups).extend({ ...modelFilters, batch: BatchFlag }),
  z.strictObject({ ...CompletionsUsage.shape, object: z.literal('organization.usage.decisions.result') }),
)

export const retrieveEmbeddingsUsage = usageOperation(
  'embeddings',
  usageQuery(modelGroups).extend(modelFilters),
  z.strictObject({
    object: z.literal('organization.usage.embeddings.result'),
    input_tokens: count,
    num_model_requests: count,
    ...byModel,
  }),
)

export const retrieveModerationsUsage = usageOperation(
  'moderations',
  usageQuery(modelGroups).extend(modelFilters),
  z.strictObject({
    object: z.literal('organization.usage.moderations.result'),
    input_tokens: count,
    num_model_requests: count,
    ...byModel,
  }),
)

export const retrieveImagesUsage = usageOperation(
  'images',
  usageQuery([...modelGroups, 'size', 'source']).extend({
    ...modelFilters,
    sizes: choices('256x256', '512x512', '1024x1024', '1792x1792', '1024x1792'),
    sources: choices('image.generation', 'image.edit', 'image.variation'),
  }),
  z.strictObject({
    object: z.literal('organization.usage.images.result'),
    images: count,
    num_model_requests: count,
    ...byModel,
    size: group,
    source: group,
  }),
)

export const retrieveAudioSpeechesUsage = usageOperation(
  'audio_speeches',
  usageQuery(modelGroups).extend(modelFilters),
  z.strictObject({
    object: z.literal('organization.usage.audio_speeches.result'),
    characters: count,
    num_model_requests: count,
    ...byModel,
  }),
)

export const retrieveAudioTranscriptionsUsage = usageOperation(
  'audio_transcriptions',
  usageQuery(modelGroups).extend(modelFilters),
  z.strictObject({
    object: z.literal('organization.usage.audio_transcriptions.result'),
    seconds: count,
    num_model_requests: count,
    ...byModel,
  }),
)

export const retrieveVectorStoresUsage = usageOperation(
  'vector_stores',
  usageQuery(['project_id']),
  z.strictObject({
    object: z.literal('organization.usage.vector_stores.result'),
    usage_bytes: count,
    project_id: group,
  }),
)

export const retrieveCodeInterpreterSessionsUsage = usageOperation(
  'code_interpreter_sessions',
  usageQuery(['project_id']),
  z.strictObject({
    object: z.literal('organization.usage.code_interpreter_sessions.result'),
    num_sessions: count,
    project_id: group,
  }),
)

export const retrieveFileSearchCallsUsage = usageOperation(
  'file_search_calls',
  usageQuery(['project_id', 'user_id', 'api_key_id', 'vector_store_id']).extend({
    ...keyFilters,
    vector_store_ids: texts,
  }),
  z.strictObject({
    object: z.literal('organization.usage.file_searches.result'),
    num_requests: count,
    ...byKey,
    vector_store_id: group,
  }),
)

export const retrieveWebSearchCallsUsage = usageOperation(
  'web_search_calls',
  usageQuery([...modelGroups, 'context_level', 'api_source']).extend({
    ...modelFilters,
    context_levels: choices('low', 'medium', 'high'),
  }),
  z.strictObject({
    object: z.literal('organization.usage.web_searches.result'),
    num_requests: count,
    num_model_requests: count,
    ...byModel,
    context_level: group,
    api_source: ApiSource,
  }),
)

export const usageOperations = [
  retrieveCompletionsUsage,
  retrieveDecisionsUsage,
  retrieveEmbeddingsUsage,
  retrieveModerationsUsage,
  retrieveImagesUsage,
  retrieveAudioSpeechesUsage,
  retrieveAudioTranscriptionsUsage,
  retrieveVectorStoresUsage,
  retrieveCodeInterpreterSessionsUsage,
  retrieveFileSearchCallsUsage,
  retrieveWebSearchCallsUsage,
] as const
