import { listModels, retrieveModel, type Model as ModelView } from '@switchyard/contracts/models.ts'
import { route } from '#platform/http/route.ts'
import type { Model } from '../domain/model.ts'
import type { RouteUses } from '../use.ts'

const modelView = (name: string, { createdAt, ownedBy }: Model): ModelView => ({
  id: name,
  object: 'model',
  created: createdAt,
  owned_by: ownedBy,
})

export const listModelsRoute = ({ catalogue }: RouteUses) =>
  route(listModels, async () => ({
    object: 'list' as const,
    data: catalogue.names().map(([name, model]) => modelView(name, model)),
  }))

export const retrieveModelRoute = ({ catalogue }: RouteUses) =>
  route(retrieveModel, async ({ params }) => modelView(params.model, catalogue.get(params.model)))
