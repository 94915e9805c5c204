import { z } from 'zod'
import { operation } from '../operation.ts'
import { GivenGrader, GraderShown } from './graders.ts'

export const modelSampleMax = 1024 * 1024

/** What went wrong, one flag for each kind; `reward` is 0 then. */
export const GraderErrors = z.strictObject({
  formula_parse_error: z.boolean(),
  invalid_variable_error: z.boolean(),
  model_grader_parse_error: z.boolean(),
  model_grader_refusal_error: z.boolean(),
  model_grader_server_error: z.boolean(),
  model_grader_server_error_details: z.string().nullable(),
  other_error: z.boolean(),
  python_grader_runtime_error: z.boolean(),
  python_grader_runtime_error_details: z.string().nullable(),
  python_grader_server_error: z.boolean(),
  python_grader_server_error_type: z.string().nullable(),
  sample_parse_error: z.boolean(),
  truncated_observation_error: z.boolean(),
  unresponsive_reward_error: z.boolean(),
})
export type GraderErrors = z.infer<typeof GraderErrors>

const count = z.int().nonnegative()

export const GraderRun = z
  .strictObject({
    reward: z.number(),
    sub_rewards: z.record(z.string(), z.number()),
    model_grader_token_usage_per_model: z.record(
      z.string(),
      z.strictObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count, cached_tokens: count }),
    ),
    metadata: z.strictObject({
      name: z.string(),
      type: z.string(),
      /** In seconds. */
      execution_time: z.number(),
      /** Of the graders that a `multi` is made of. */
      scores: z.record(z.string(), z.number()),
      token_usage: count.nullable(),
      sampled_model_name: z.string().nullable(),
      errors: GraderErrors,
    }),
  })
  .meta({ id: 'GraderRun' })
export type GraderRun = z.infer<typeof GraderRun>

export const runGrader = operation({
  id: 'fine_tuning.alpha.graders.run',
  method: 'POST',
  path: '/v1/fine_tuning/alpha/graders/run',
  summary: 'Let a grader judge one answer of a model.',
  auth: 'project_key',
  scope: 'evals.write',
  body: z.strictObject({
    grader: GivenGrader,
    model_sample: z.string().max(modelSampleMax),
    item: z.unknown().optional(),
  }),
  reply: GraderRun,
  faults: ['model_not_found', 'unsupported_value', 'insufficient_quota'],
})

export const validateGrader = operation({
  id: 'fine_tuning.alpha.graders.validate',
  method: 'POST',
  path: '/v1/fine_tuning/alpha/graders/validate',
  summary: 'Check a grader without running it.',
  auth: 'project_key',
  scope: 'evals.read',
  body: z.strictObject({ grader: GivenGrader }),
  reply: z.strictObject({ grader: GraderShown }),
  faults: ['model_not_found', 'unsupported_value'],
})

export const graderOperations = [runGrader, validateGrader] as const
