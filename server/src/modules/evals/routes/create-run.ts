import type { CreateDataSourceConfig, RunDataSource } from '@switchyard/contracts/evals/data-sources.ts'
import { createEvalRun, type CreateEvalRun } from '@switchyard/contracts/evals/runs.ts'
import type { EvalRunId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { TestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import type { Files } from '#modules/files/index.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { checkTemplates, templatesOfMessages } from '../domain/check-templates.ts'
import { runView } from '../domain/run-view.ts'
import { findEval, holdEval } from '../store/evals.ts'
import { insertRun } from '../store/runs.ts'
import type { EvalsTables } from '../store/tables.ts'
import { checkModelOfRun, type Models } from './check-model.ts'
import { noSuchEval } from './faults.ts'

export interface CreateRunUses {
  readonly db: Db<EvalsTables>
  readonly files: Pick<Files, 'open'>
  readonly models: Models
  readonly publicUrl: string
  /** Its rows are read now, or when it is its turn. */
  readonly startLoads: (tx: Tx, projectId: string) => Promise<void>
}

export const createRunRoute = (use: CreateRunUses) =>
  route(createEvalRun, async ({ scope, params, body, commit }) => {
    const { projectId } = scope
    const found = await findEval(use.db, projectId, params.eval_id)
    if (found === null) throw noSuchEval()
    await checkSource(use, projectId, body)
    const config = found.data_source_config as CreateDataSourceConfig
    checkFilter(body, config)
    checkAsking(use, body, config)
    return await commit(async (tx) => {
      // Deleted meanwhile: then there is nothing to run.
      if ((await holdEval(tx, projectId, params.eval_id)) === null) throw noSuchEval()
      const dataSource = echo(body)
      const row = await insertRun(tx, {
        id: newId<EvalRunId>('evalrun_'),
        evalId: params.eval_id,
        orgId: scope.orgId,
        projectId,
        keyId: scope.keyId,
        name: body.name ?? '',
        metadata: body.metadata ?? {},
        model: dataSource.type === 'jsonl' ? null : (dataSource.model ?? null),
        dataSource,
      })
      await use.startLoads(tx, projectId)
      return runView(row, found.testing_criteria as unknown as TestingCriterion[], use.publicUrl)
    })
  })

/** What was asked for, in the one form that replies show. */
function echo({ data_source: source }: CreateEvalRun): RunDataSource {
  return source.type === 'jsonl'
    ? source
    : ({ ...source, sampling_params: source.sampling_params ?? null } as RunDataSource)
}

async function checkSource(use: CreateRunUses, projectId: ProjectId, { data_source: { source } }: CreateEvalRun) {
  if (source.type !== 'file_id') return
  const param = 'data_source.source.id'
  const file = await use.files.open(projectId, source.id)
  if (file === null) throw new Fault('not_found', 'No such file.', { param })
  if (file.purpose !== 'evals') {
    throw new Fault('invalid_value', `The file has the purpose '${file.purpose}'; upload it with 'evals'.`, { param })
  }
}

/** A run narrows down the logs that its eval is about; it cannot ask for others. */
function checkFilter({ data_source: { source } }: CreateEvalRun, config: CreateDataSourceConfig): void {
  if (config.type === 'custom' || config.metadata == null) return
  if (source.type !== 'stored_completions' && source.type !== 'responses') return
  for (const [key, value] of Object.entries(source.metadata ?? {})) {
    if (!Object.hasOwn(config.metadata, key) || config.metadata[key] === value) continue
    throw new Fault('invalid_value', `The eval is about logs where ${key} is '${config.metadata[key]}'.`, {
      param: 'data_source.source.metadata',
    })
  }
}

function checkAsking(use: CreateRunUses, { data_source: source }: CreateEvalRun, config: CreateDataSourceConfig): void {
  if (source.type === 'jsonl') return
  checkModelOfRun(use.models, source)
  const { input_messages: input } = source
  if (input === undefined) return
  const templates =
    input.type === 'template'
      ? templatesOfMessages(input.template, 'data_source.input_messages.template')
      : [{ text: `{{ ${input.item_reference} }}`, param: 'data_source.input_messages.item_reference' }]
  const itemSchema = config.type === 'custom' ? config.item_schema : null
  checkTemplates(templates, { itemSchema, sample: false })
}
