import { z } from 'zod'
import { EvalId, EvalRunId, OutputItemId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { EvalApiError, runParams } from './runs.ts'

const count = z.int().nonnegative()

export const OutputItemStatus = z.enum(['pass', 'fail', 'error'])
export type OutputItemStatus = z.infer<typeof OutputItemStatus>

/** What one criterion said; graders add what else they know. */
export const CriterionOutcome = z.looseObject({
  name: z.string(),
  type: z.string().optional(),
  passed: z.boolean(),
  score: z.number(),
  sample: z.record(z.string(), z.unknown()).nullish(),
})
export type CriterionOutcome = z.infer<typeof CriterionOutcome>

/** What the model was asked and answered. Null is what was not asked for, or never came. */
export const OutputSample = z.strictObject({
  input: z.array(z.strictObject({ role: z.string(), content: z.string() })),
  output: z.array(z.strictObject({ role: z.string().optional(), content: z.string().optional() })),
  finish_reason: z.string().nullable(),
  model: z.string().nullable(),
  usage: z
    .strictObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count, cached_tokens: count })
    .nullable(),
  error: EvalApiError.nullable(),
  temperature: z.number().nullable(),
  max_completion_tokens: z.int().nullable(),
  top_p: z.number().nullable(),
  seed: z.int().nullable(),
})
export type OutputSample = z.infer<typeof OutputSample>

export const OutputItem = z
  .strictObject({
    id: OutputItemId,
    object: z.literal('eval.run.output_item'),
    created_at: count,
    run_id: EvalRunId,
    eval_id: EvalId,
    status: OutputItemStatus,
    /** The row, counted from 0. */
    datasource_item_id: count,
    datasource_item: z.record(z.string(), z.unknown()),
    results: z.array(CriterionOutcome),
    sample: OutputSample,
  })
  .meta({ id: 'EvalRunOutputItem' })
export type OutputItem = z.infer<typeof OutputItem>

export const listOutputItems = operation({
  id: 'evals.runs.output_items.list',
  method: 'GET',
  path: '/v1/evals/{eval_id}/runs/{run_id}/output_items',
  summary: 'List what became of each row of a run, in the order of the rows.',
  auth: 'project_key',
  scope: 'evals.read',
  params: runParams,
  query: pageQuery().extend({ order: z.enum(['asc', 'desc']).default('asc'), status: OutputItemStatus.optional() }),
  reply: pageOf(OutputItem),
  faults: ['not_found'],
})

export const retrieveOutputItem = operation({
  id: 'evals.runs.output_items.retrieve',
  method: 'GET',
  path: '/v1/evals/{eval_id}/runs/{run_id}/output_items/{output_item_id}',
  summary: 'Read what became of one row.',
  auth: 'project_key',
  scope: 'evals.read',
  params: runParams.extend({ output_item_id: OutputItemId }),
  reply: OutputItem,
  faults: ['not_found'],
})

export const outputItemOperations = [listOutputItems, retrieveOutputItem] as const
