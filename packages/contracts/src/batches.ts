import { z } from 'zod'
import { ExpiresAfter } from './files.ts'
import { BatchId, FileId } from './ids.ts'
import { operation } from './operation.ts'
import { pageOf, pageQuery } from './page.ts'
import { Metadata } from './responses/request.ts'

export const batchLinesMax = 50_000
export const batchBytesMax = 200 * 1024 * 1024
export const customIdMax = 512

/** What lines of a batch can ask for here. */
export const batchEndpoints = ['/v1/responses', '/v1/chat/completions', '/v1/completions'] as const
export type BatchEndpoint = (typeof batchEndpoints)[number]

const elsewhere = [
  '/v1/embeddings',
  '/v1/moderations',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/videos',
] as const

const Endpoint = z.enum([...batchEndpoints, ...elsewhere]).transform((given, { addIssue }): BatchEndpoint => {
  const offered = batchEndpoints.find((endpoint) => endpoint === given)
  if (offered !== undefined) return offered
  const message = `batches of this server run over ${batchEndpoints.join(', ')}`
  addIssue({ code: 'custom', params: { fault: 'unsupported_value' }, message, input: given })
  return z.NEVER
})

export const CreateBatch = z.strictObject({
  input_file_id: FileId,
  endpoint: Endpoint,
  completion_window: z.literal('24h'),
  metadata: Metadata.nullish(),
  output_expires_after: ExpiresAfter.optional(),
})
export type CreateBatch = z.infer<typeof CreateBatch>

const timestamp = z.int().nonnegative()
const count = z.int().nonnegative()

export const BatchStatus = z.enum([
  'validating',
  'failed',
  'in_progress',
  'finalizing',
  'completed',
  'expired',
  'cancelling',
  'cancelled',
])
export type BatchStatus = z.infer<typeof BatchStatus>

export const BatchError = z.strictObject({
  code: z.string(),
  message: z.string(),
  param: z.string().nullable(),
  /** Counted from 1. */
  line: z.int().nullable(),
})
export type BatchError = z.infer<typeof BatchError>

export const BatchUsage = z.strictObject({
  input_tokens: count,
  input_tokens_details: z.strictObject({ cached_tokens: count }),
  output_tokens: count,
  output_tokens_details: z.strictObject({ reasoning_tokens: count }),
  total_tokens: count,
})
export type BatchUsage = z.infer<typeof BatchUsage>

export const Batch = z
  .strictObject({
    id: BatchId,
    object: z.literal('batch'),
    endpoint: z.string(),
    input_file_id: FileId,
    completion_window: z.string(),
    status: BatchStatus,
    created_at: timestamp,
    expires_at: timestamp,
    in_progress_at: timestamp.optional(),
    finalizing_at: timestamp.optional(),
    completed_at: timestamp.optional(),
    failed_at: timestamp.optional(),
    expired_at: timestamp.optional(),
    cancelling_at: timestamp.optional(),
    cancelled_at: timestamp.optional(),
    /** Lines that succeeded. */
    output_file_id: FileId.optional(),
    /** Lines that did not. */
    error_file_id: FileId.optional(),
    /** Why the input file was refused. */
    errors: z.strictObject({ object: z.literal('list'), data: z.array(BatchError) }).optional(),
    request_counts: z.strictObject({ total: count, completed: count, failed: count }),
    usage: BatchUsage.optional(),
    model: z.string().optional(),
    metadata: Metadata.nullable(),
  })
  .meta({ id: 'Batch' })
export type Batch = z.infer<typeof Batch>

const batchParams = z.strictObject({ batch_id: BatchId })

export const createBatch = operation({
  id: 'batches.create',
  method: 'POST',
  path: '/v1/batches',
  summary: 'Run the requests of a file within 24 hours, apart from the rate limits.',
  auth: 'project_key',
  scope: 'batches.write',
  body: CreateBatch,
  reply: Batch,
  faults: ['not_found', 'unsupported_value'],
  creates: true,
})

export const listBatches = operation({
  id: 'batches.list',
  method: 'GET',
  path: '/v1/batches',
  summary: 'List the batches of the project, newest first.',
  auth: 'project_key',
  scope: 'batches.read',
  query: pageQuery(),
  reply: pageOf(Batch),
})

export const retrieveBatch = operation({
  id: 'batches.retrieve',
  method: 'GET',
  path: '/v1/batches/{batch_id}',
  summary: 'Read how far a batch has come.',
  auth: 'project_key',
  scope: 'batches.read',
  params: batchParams,
  reply: Batch,
  faults: ['not_found'],
})

export const cancelBatch = operation({
  id: 'batches.cancel',
  method: 'POST',
  path: '/v1/batches/{batch_id}/cancel',
  summary: 'Begin no further line of a batch, and keep what was done.',
  auth: 'project_key',
  scope: 'batches.write',
  params: batchParams,
  body: z.strictObject({}),
  bodyOptional: true,
  reply: Batch,
  faults: ['not_found', 'invalid_state_transition'],
})

export const batchOperations = [createBatch, listBatches, retrieveBatch, cancelBatch] as const
