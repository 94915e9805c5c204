import { z } from 'zod'
import { EvalId, EvalRunId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { Metadata } from '../responses/request.ts'
import { CreateRunDataSource, RunDataSource } from './data-sources.ts'
import { EvalName } from './evals.ts'

const count = z.int().nonnegative()

export const EvalRunStatus = z.enum(['queued', 'in_progress', 'completed', 'failed', 'canceled'])
export type EvalRunStatus = z.infer<typeof EvalRunStatus>

export const EvalApiError = z.strictObject({ code: z.string(), message: z.string() })
export type EvalApiError = z.infer<typeof EvalApiError>

export const CreateEvalRun = z.strictObject({
  name: EvalName.optional(),
  metadata: Metadata.nullish(),
  data_source: CreateRunDataSource,
})
export type CreateEvalRun = z.infer<typeof CreateEvalRun>

export const ModelUsage = z.strictObject({
  model_name: z.string(),
  invocation_count: count,
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  cached_tokens: count,
})
export type ModelUsage = z.infer<typeof ModelUsage>

/** `testing_criteria` is the id of the grader. */
export const CriterionResult = z.strictObject({ testing_criteria: z.string(), passed: count, failed: count })
export type CriterionResult = z.infer<typeof CriterionResult>

export const EvalRun = z
  .strictObject({
    id: EvalRunId,
    object: z.literal('eval.run'),
    eval_id: EvalId,
    name: z.string(),
    /** Null where no model is sampled. */
    model: z.string().nullable(),
    report_url: z.string(),
    status: EvalRunStatus,
    created_at: z.int().nonnegative(),
    /** Rows processed so far; the other three add up to it. */
    result_counts: z.strictObject({ total: count, errored: count, failed: count, passed: count }),
    per_model_usage: z.array(ModelUsage).nullable(),
    per_testing_criteria_results: z.array(CriterionResult).nullable(),
    data_source: RunDataSource,
    error: EvalApiError.nullable(),
    metadata: Metadata,
  })
  .meta({ id: 'EvalRun' })
export type EvalRun = z.infer<typeof EvalRun>

const evalParams = z.strictObject({ eval_id: EvalId })
export const runParams = z.strictObject({ eval_id: EvalId, run_id: EvalRunId })

export const createEvalRun = operation({
  id: 'evals.runs.create',
  method: 'POST',
  path: '/v1/evals/{eval_id}/runs',
  summary: 'Run an eval over rows of data.',
  auth: 'project_key',
  scope: 'evals.write',
  params: evalParams,
  body: CreateEvalRun,
  reply: EvalRun,
  faults: ['not_found', 'model_not_found', 'secrets_not_allowed', 'unsupported_tool', 'unsupported_value'],
  creates: true,
})

export const listEvalRuns = operation({
  id: 'evals.runs.list',
  method: 'GET',
  path: '/v1/evals/{eval_id}/runs',
  summary: 'List the runs of an eval, oldest first.',
  auth: 'project_key',
  scope: 'evals.read',
  params: evalParams,
  query: pageQuery().extend({ order: z.enum(['asc', 'desc']).default('asc'), status: EvalRunStatus.optional() }),
  reply: pageOf(EvalRun),
  faults: ['not_found'],
})

export const retrieveEvalRun = operation({
  id: 'evals.runs.retrieve',
  method: 'GET',
  path: '/v1/evals/{eval_id}/runs/{run_id}',
  summary: 'Read how far a run has come, and what it found.',
  auth: 'project_key',
  scope: 'evals.read',
  params: runParams,
  reply: EvalRun,
  faults: ['not_found'],
})

const cancel = {
  method: 'POST',
  summary: 'Begin no further row of a run, and keep what was done; a run that has ended stays as it is.',
  auth: 'project_key',
  scope: 'evals.write',
  params: runParams,
  body: z.strictObject({}),
  bodyOptional: true,
  reply: EvalRun,
  faults: ['not_found'],
} as const

export const cancelEvalRun = operation({
  id: 'evals.runs.cancel',
  path: '/v1/evals/{eval_id}/runs/{run_id}/cancel',
  ...cancel,
})

/** Where older clients cancel. */
export const cancelEvalRunInPlace = operation({
  id: 'evals.runs.cancel_in_place',
  path: '/v1/evals/{eval_id}/runs/{run_id}',
  ...cancel,
})

export const deleteEvalRun = operation({
  id: 'evals.runs.delete',
  method: 'DELETE',
  path: '/v1/evals/{eval_id}/runs/{run_id}',
  summary: 'Delete a run with its results; one that is under way ends.',
  auth: 'project_key',
  scope: 'evals.write',
  params: runParams,
  reply: z.strictObject({ object: z.literal('eval.run.deleted'), deleted: z.literal(true), run_id: EvalRunId }),
  faults: ['not_found'],
})

export const evalRunOperations = [
  createEvalRun,
  listEvalRuns,
  retrieveEvalRun,
  cancelEvalRun,
  cancelEvalRunInPlace,
  deleteEvalRun,
] as const
