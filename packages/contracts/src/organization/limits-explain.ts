import { z } from 'zod'
import { operation } from '../operation.ts'
import { timestamp } from './shared.ts'

const requestIdMax = 96

const ExplainedBucket = z.strictObject({
  bucket: z.string(),
  level: z.enum(['organization', 'project']),
  metric: z.string(),
  limit: z.number(),
  used_before: z.number(),
  requested: z.number(),
})

const Decided = z.strictObject({
  at: timestamp,
  /** `waiting`: work that nobody waits for was told to come later. Of a line that waits, one a second is kept. */
  kind: z.enum(['admitted', 'refused', 'waiting']),
  operation: z.string(),
  model: z.string().nullable(),
  input_tokens: z.number(),
  max_output_tokens: z.number().nullable(),
  tokens_charged: z.number(),
  buckets: z.array(ExplainedBucket),
  /** The bucket that refused. */
  binding: z.string().nullable(),
  retry_after_ms: z.number().nullable(),
  /** How long such work had stood in line by then. */
  waited_ms: z.number().nullable(),
})

const Settled = z.strictObject({
  at: timestamp,
  kind: z.enum(['settled', 'released']),
  reservation: z.string(),
  reserved: z.array(z.strictObject({ bucket: z.string(), amount: z.number() })),
  tokens: z.number().nullable(),
  cost_nanos: z.number().nullable(),
  /** Settled by the sweep, because whoever carried the request out was gone. */
  swept: z.boolean(),
})

const Used = z.strictObject({
  at: timestamp,
  model: z.string(),
  outcome: z.enum(['completed', 'interrupted']),
  input_tokens: z.number(),
  cached_tokens: z.number(),
  output_tokens: z.number(),
  cost_nanos: z.number(),
})

export const LimitsExplanation = z.strictObject({
  object: z.literal('organization.limits.explanation'),
  request_id: z.string(),
  project_id: z.string().nullable(),
  /** In one sentence. */
  summary: z.string(),
  decisions: z.array(Decided),
  settlements: z.array(Settled),
  usage: z.array(Used),
})
export type LimitsExplanation = z.infer<typeof LimitsExplanation>

export const explainLimits = operation({
  id: 'admin.organization.limits.explain',
  method: 'GET',
  path: '/v1/organization/limits/explain',
  summary: 'Say why a request of the last days was admitted or refused, and what was settled afterwards.',
  auth: 'admin_key',
  scope: 'organization.limits.read',
  query: z.strictObject({ request_id: z.string().min(1).max(requestIdMax) }),
  reply: LimitsExplanation,
  faults: ['not_found'],
})

export const limitsExplainOperations = [explainLimits] as const
