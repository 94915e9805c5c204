import type { EvalRunStatus } from '@switchyard/contracts/evals/runs.ts'
import { sql } from 'kysely'
import { randomBytes } from 'node:crypto'
import type { Database } from '#platform/db/db.ts'
import { own } from '#platform/db/tx.ts'
import type { EvalsTables } from '../store/tables.ts'
import { ticketEval } from './evals-kit.ts'

export interface FilledRun {
  readonly evalId: string
  readonly runId: string
  readonly path: string
}

export interface Filling {
  readonly projectId: string
  readonly rows: number
  /** Of these rows, how many have a result. All, unless the run is under way. */
  readonly graded?: number
  readonly status?: EvalRunStatus
  readonly error?: { code: string; message: string }
  readonly criteria?: readonly object[]
  readonly name?: string
}

const rowsPerChunk = 100

const texts = {
  ticket: `'Ticket ' || n || ': ' || (array['The screen of my laptop flickers and goes dark after a minute','I was charged twice for the same month','The app forgets my settings whenever it is updated','How do I add a colleague to our plan?'])[1 + n % 4]`,
  label: `(array['Hardware','Billing','Software','Account'])[1 + n % 4]`,
  answer: `case when n % 10 = 3 then 'Other' else (array['Hardware','Billing','Software','Account'])[1 + n % 4] end`,
  status: `case when n % 50 = 7 then 'error' when n % 10 = 3 then 'fail' else 'pass' end`,
}

/** A run with its rows and results, as if it had been carried out: one of ten fails, one of fifty errs. */
export async function filledRun(db: Database, filling: Filling): Promise<FilledRun> {
  const { projectId, rows, status = 'completed', graded = rows, error = null, name = 'nightly' } = filling
  const criteria = filling.criteria ?? [{ ...ticketEval.testing_criteria[0], id: 'label-1' }]
  const evalId = `eval_${randomBytes(12).toString('hex')}`
  const runId = `evalrun_${randomBytes(12).toString('hex')}`
  const over = !['queued', 'in_progress'].includes(status)
  const raw = sql.raw
  await db.tx(async (tx) => {
    const run = (query: ReturnType<typeof sql>) => query.execute(own<EvalsTables>(tx))
    await run(sql`
      insert into evals.eval (id, org_id, project_id, name, metadata, data_source_config, testing_criteria)
      values (${evalId}, 'org-1', ${projectId}, 'Support tickets', '{}', ${JSON.stringify(ticketEval.data_source_config)},
        ${JSON.stringify(criteria)})`)
    await run(sql`
      insert into evals.row (run_id, n, item)
      select ${runId}, n, json_build_object('ticket', ${raw(texts.ticket)}, 'label', ${raw(texts.label)})
      from generate_series(0, ${rows}::int - 1) as n`)
    await run(sql`
      insert into evals.result (run_id, n, status, passed, sample, results, usage)
      select ${runId}, n, status,
        case status when 'error' then '{}' else array[status = 'pass'] end,
        json_build_object('input', json_build_array(json_build_object('role', 'user', 'content', ticket)),
          'output', case status when 'error' then '[]'::json
            else json_build_array(json_build_object('role', 'assistant', 'content', answer)) end,
          'finish_reason', 'stop', 'model', 'small-1',
          'usage', json_build_object('prompt_tokens', 31, 'completion_tokens', 2, 'total_tokens', 33, 'cached_tokens', 0),
          'error', case status when 'error' then json_build_object('code', 'provider_error',
            'message', 'The model provider answered with status 400: the prompt was refused by its content filter.') end,
          'temperature', null, 'max_completion_tokens', null, 'top_p', null, 'seed', null),
        case status when 'error' then '[]'::json else json_build_array(json_build_object('name', 'label-1',
          'type', 'string_check', 'passed', status = 'pass', 'score', (status = 'pass')::int)) end,
        json_build_array(json_build_array('small-1', 1, 31, 2, 0))
      from (select n, ${raw(texts.status)} as status, ${raw(texts.ticket)} as ticket, ${raw(texts.answer)} as answer
        from generate_series(0, ${graded}::int - 1) as n) as made`)
    await run(sql`
      insert into evals.chunk (run_id, n, project_id, first_row, last_row, status, totals)
      select ${runId}, at / ${rowsPerChunk}, ${projectId}, at, least(at + ${rowsPerChunk}, ${rows}::int) - 1,
        case when at + ${rowsPerChunk} <= ${graded}::int or ${over} then 'done' when at < ${graded}::int then 'submitted'
          else 'waiting' end,
        case when at + ${rowsPerChunk} <= ${graded}::int or (${over} and at < ${graded}::int) then ${totals(runId, sql`between at and at + ${rowsPerChunk} - 1`)} end
      from generate_series(0, ${rows}::int - 1, ${rowsPerChunk}) as at`)
    await run(sql`
      insert into evals.run (id, eval_id, org_id, project_id, key_id, name, metadata, model, data_source, status, error,
        created_at, started_at, ended_at, loaded, rows_total, totals)
      values (${runId}, ${evalId}, 'org-1', ${projectId}, 'key_1', ${name}, '{}', 'small-1', '{}', ${status},
        ${error === null ? null : JSON.stringify(error)}, now() - interval '9 minutes', now() - interval '8 minutes',
        ${over ? sql`now() - interval '2 minutes'` : null}, ${rows > 0}, ${rows},
        ${over ? totals(runId, sql`>= 0`) : null})`)
  })
  return { evalId, runId, path: `/dashboard/evals/${evalId}/runs/${runId}` }
}

/** What the sums over these results are; each has one criterion and one call. */
function totals(runId: string, which: ReturnType<typeof sql>) {
  return sql`(select json_build_object('passed', count(*) filter (where status = 'pass'),
    'failed', count(*) filter (where status = 'fail'), 'errored', count(*) filter (where status = 'error'),
    'criteria', json_build_array(json_build_object('passed', count(*) filter (where status = 'pass'),
      'failed', count(*) filter (where status = 'fail'))),
    'models', json_build_array(json_build_object('model', 'small-1', 'calls', count(*), 'prompt', 31 * count(*),
      'completion', 2 * count(*), 'cached', 0))) from evals.result where run_id = ${runId} and n ${which})`
}
