import type { TestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import type { EvalRun } from '@switchyard/contracts/evals/runs.ts'
import type { EvalId, EvalRunId } from '@switchyard/contracts/ids.ts'
import type { RunRow } from '../store/runs.ts'
import { noTotals, type Totals } from './totals.ts'

const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)

/** Where people look at a run. */
export const reportUrl = (publicUrl: string, evalId: string, runId: string): string =>
  `${publicUrl}/dashboard/evals/${evalId}/runs/${runId}`

/** A run as it is now. Of one that has ended, the row itself knows the sums. */
export function runView(
  row: RunRow,
  criteria: readonly Pick<TestingCriterion, 'id'>[],
  publicUrl: string,
  soFar: Totals = noTotals,
): EvalRun {
  const { passed, failed, errored, criteria: judged, models } = row.totals ?? soFar
  const total = passed + failed + errored
  return {
    id: row.id as EvalRunId,
    object: 'eval.run',
    eval_id: row.eval_id as EvalId,
    name: row.name,
    model: row.model,
    report_url: reportUrl(publicUrl, row.eval_id, row.id),
    status: row.status,
    created_at: seconds(row.created_at),
    result_counts: { total, errored, failed, passed },
    per_model_usage:
      total === 0
        ? null
        : models.map(({ model, calls, prompt, completion, cached }) => ({
            model_name: model,
            invocation_count: calls,
            prompt_tokens: prompt,
            completion_tokens: completion,
            total_tokens: prompt + completion,
            cached_tokens: cached,
          })),
    per_testing_criteria_results:
      total === 0
        ? null
        : criteria.map(({ id }, at) => ({
            testing_criteria: id,
            passed: judged[at]?.passed ?? 0,
            failed: judged[at]?.failed ?? 0,
          })),
    data_source: row.data_source,
    error: row.error,
    metadata: row.metadata,
  }
}
