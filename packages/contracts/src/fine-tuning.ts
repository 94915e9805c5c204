import { z } from 'zod'
import { operation } from './operation.ts'

const count = z.int().nonnegative()

export const FineTuningModelLimit = z.strictObject({
  object: z.literal('fine_tuning.model_limit'),
  model: z.string(),
  max_concurrent_jobs: count,
  max_jobs_per_1_day: count,
  max_training_tokens_per_job: count,
  active_jobs: count,
  jobs_last_24_hours: count,
})
export type FineTuningModelLimit = z.infer<typeof FineTuningModelLimit>

export const listFineTuningModelLimits = operation({
  id: 'fine_tuning.model_limits.list',
  method: 'GET',
  path: '/v1/fine_tuning/model_limits',
  summary: 'List what fine-tuning may use, by model.',
  auth: 'project_key',
  scope: 'fine_tuning.read',
  query: z.strictObject({}),
  reply: z.strictObject({
    object: z.literal('list'),
    data: z.array(FineTuningModelLimit),
    has_more: z.literal(false),
  }),
})

export const fineTuningOperations = [listFineTuningModelLimits] as const
