import { randomUUID } from 'node:crypto'
import { createEval, type CreateEval } from '@switchyard/contracts/evals/evals.ts'
import type { EvalId } from '@switchyard/contracts/ids.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { checkTemplates, templatesOfGrader } from '../domain/check-templates.ts'
import { evalView } from '../domain/eval-view.ts'
import type { ItemSchemas } from '../steps/item-schemas.ts'
import { insertEval } from '../store/evals.ts'
import { checkModelOfGrader, type Models } from './check-model.ts'

export interface CreateEvalUses {
  readonly itemSchemas: Pick<ItemSchemas, 'refusal'>
  readonly models: Models
}

function checkCriteria(
  use: CreateEvalUses,
  { data_source_config: config, testing_criteria: criteria }: CreateEval,
): void {
  const itemSchema = config.type === 'custom' ? config.item_schema : null
  for (const [at, grader] of criteria.entries()) {
    const param = `testing_criteria[${at}]`
    checkModelOfGrader(use.models, grader, param)
    checkTemplates(templatesOfGrader(grader, param), { itemSchema, sample: true })
  }
}

async function checkSchema(use: CreateEvalUses, { data_source_config: config }: CreateEval): Promise<void> {
  if (config.type !== 'custom') return
  const said = await use.itemSchemas.refusal(config.item_schema)
  if (said === null) return
  const param = 'data_source_config.item_schema'
  throw new Fault('invalid_value', `Invalid '${param}': ${said}.`, { param })
}

export const createEvalRoute = (use: CreateEvalUses) =>
  route(createEval, async ({ scope, body, commit }) => {
    checkCriteria(use, body)
    await checkSchema(use, body)
    return await commit(async (tx) => {
      const row = await insertEval(tx, {
        id: newId<EvalId>('eval_'),
        orgId: scope.orgId,
        projectId: scope.projectId,
        name: body.name ?? '',
        metadata: body.metadata ?? {},
        dataSourceConfig: body.data_source_config,
        testingCriteria: body.testing_criteria.map((grader) => ({ ...grader, id: `${grader.name}-${randomUUID()}` })),
      })
      return evalView(row)
    })
  })
