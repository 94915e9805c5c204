import { z } from 'zod'
import { EvalId } from '../ids.ts'
import { operation } from '../operation.ts'
import { Order, pageOf, pageQuery } from '../page.ts'
import { Metadata } from '../responses/request.ts'
import { CreateDataSourceConfig, DataSourceConfig } from './data-sources.ts'
import { CreateTestingCriterion, TestingCriterion } from './graders.ts'

export const evalNameMax = 256
export const testingCriteriaMax = 100

export const EvalName = z.string().max(evalNameMax)

export const CreateEval = z.strictObject({
  name: EvalName.optional(),
  metadata: Metadata.nullish(),
  data_source_config: CreateDataSourceConfig,
  testing_criteria: z.array(CreateTestingCriterion).min(1).max(testingCriteriaMax),
})
export type CreateEval = z.infer<typeof CreateEval>

export const Eval = z
  .strictObject({
    id: EvalId,
    object: z.literal('eval'),
    name: z.string(),
    created_at: z.int().nonnegative(),
    data_source_config: DataSourceConfig,
    testing_criteria: z.array(TestingCriterion),
    metadata: Metadata,
  })
  .meta({ id: 'Eval' })
export type Eval = z.infer<typeof Eval>

const evalParams = z.strictObject({ eval_id: EvalId })

export const createEval = operation({
  id: 'evals.create',
  method: 'POST',
  path: '/v1/evals',
  summary: 'Describe a task: what a row of its data looks like, and what passes.',
  auth: 'project_key',
  scope: 'evals.write',
  body: CreateEval,
  reply: Eval,
  faults: ['model_not_found', 'unsupported_value'],
  creates: true,
})

export const listEvals = operation({
  id: 'evals.list',
  method: 'GET',
  path: '/v1/evals',
  summary: 'List the evals of the project, newest first.',
  auth: 'project_key',
  scope: 'evals.read',
  query: pageQuery().extend({
    order: Order,
    order_by: z.enum(['created_at', 'updated_at']).default('created_at'),
  }),
  reply: pageOf(Eval),
})

export const retrieveEval = operation({
  id: 'evals.retrieve',
  method: 'GET',
  path: '/v1/evals/{eval_id}',
  summary: 'Read an eval.',
  auth: 'project_key',
  scope: 'evals.read',
  params: evalParams,
  reply: Eval,
  faults: ['not_found'],
})

export const updateEval = operation({
  id: 'evals.update',
  method: 'POST',
  path: '/v1/evals/{eval_id}',
  summary: 'Rename an eval, or replace its metadata.',
  auth: 'project_key',
  scope: 'evals.write',
  params: evalParams,
  body: z.strictObject({ name: EvalName.optional(), metadata: Metadata.nullish() }),
  reply: Eval,
  faults: ['not_found'],
})

export const deleteEval = operation({
  id: 'evals.delete',
  method: 'DELETE',
  path: '/v1/evals/{eval_id}',
  summary: 'Delete an eval with its runs and their results.',
  auth: 'project_key',
  scope: 'evals.write',
  params: evalParams,
  reply: z.strictObject({ object: z.literal('eval.deleted'), deleted: z.literal(true), eval_id: EvalId }),
  faults: ['not_found'],
})

export const evalOperations = [createEval, listEvals, retrieveEval, updateEval, deleteEval] as const
