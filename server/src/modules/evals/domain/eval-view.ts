import type { CreateDataSourceConfig } from '@switchyard/contracts/evals/data-sources.ts'
import type { Eval } from '@switchyard/contracts/evals/evals.ts'
import type { TestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import type { EvalId } from '@switchyard/contracts/ids.ts'
import type { EvalRow } from '../store/evals.ts'
import { configView } from './config-schema.ts'

const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)

export function evalView(row: EvalRow): Eval {
  return {
    id: row.id as EvalId,
    object: 'eval',
    name: row.name,
    created_at: seconds(row.created_at),
    data_source_config: configView(row.data_source_config as CreateDataSourceConfig),
    testing_criteria: row.testing_criteria as unknown as TestingCriterion[],
    metadata: row.metadata,
  }
}
