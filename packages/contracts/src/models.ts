import { z } from 'zod'
import { operation } from './operation.ts'

const modelNameMax = 256

export const Model = z
  .strictObject({
    /** A snapshot, or an alias of one: both can be asked for. */
    id: z.string(),
    object: z.literal('model'),
    created: z.int().nonnegative(),
    owned_by: z.string(),
  })
  .meta({ id: 'Model' })
export type Model = z.infer<typeof Model>

export const listModels = operation({
  id: 'models.list',
  method: 'GET',
  path: '/v1/models',
  summary: 'List the models of this server, aliases as well as snapshots.',
  auth: 'project_key',
  scope: 'models.read',
  query: z.strictObject({}),
  reply: z.strictObject({ object: z.literal('list'), data: z.array(Model) }),
})

export const retrieveModel = operation({
  id: 'models.retrieve',
  method: 'GET',
  path: '/v1/models/{model}',
  summary: 'Read one model.',
  auth: 'project_key',
  scope: 'models.read',
  params: z.object({ model: z.string().min(1).max(modelNameMax) }),
  query: z.strictObject({}),
  reply: Model,
  faults: ['model_not_found'],
})

/** There is no delete: models come from the operator's file, and none is anybody's own. */
export const modelOperations = [listModels, retrieveModel] as const
