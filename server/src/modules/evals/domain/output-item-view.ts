import type { OutputItem, OutputSample } from '@switchyard/contracts/evals/output-items.ts'
import type { EvalId, EvalRunId, OutputItemId } from '@switchyard/contracts/ids.ts'
import type { ResultRow } from '../store/results.ts'

const runPrefix = 'evalrun_'
const prefix = 'outputitem_'

/** A row of a run has its id from the start: it is the run's and the row's number. */
export const outputItemId = (runId: string, n: number): OutputItemId =>
  `${prefix}${runId.slice(runPrefix.length)}_${n}` as OutputItemId

/** The row that an id names, or null when it is of another run. */
export function rowOfOutputItem(runId: string, id: string): number | null {
  const [, n] = /_(0|[1-9]\d{0,8})$/.exec(id) ?? []
  return n !== undefined && outputItemId(runId, Number(n)) === id ? Number(n) : null
}

export function outputItemView(run: { id: string; eval_id: string }, row: ResultRow): OutputItem {
  return {
    id: outputItemId(run.id, row.n),
    object: 'eval.run.output_item',
    created_at: Math.floor(row.created_at.getTime() / 1_000),
    run_id: run.id as EvalRunId,
    eval_id: run.eval_id as EvalId,
    status: row.status,
    datasource_item_id: row.n,
    datasource_item: row.item,
    results: row.results as OutputItem['results'],
    sample: row.sample as OutputSample,
  }
}
