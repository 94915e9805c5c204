import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Eval } from '@switchyard/contracts/evals/evals.ts'
import type { OutputItem } from '@switchyard/contracts/evals/output-items.ts'
import type { EvalRun } from '@switchyard/contracts/evals/runs.ts'
import { inColour, plain, widthOf } from './display.ts'
import { failingRow, loadFill } from './failing-rows.ts'
import { junitOf } from './junit.ts'
import { reportJson, reportLines, type RunReport } from './report.ts'
import { exitCodes, verdictOf } from './verdict.ts'

const strict = { passRateMin: 1, errorsMax: 0 }

const tickets = {
  id: 'eval_1',
  name: 'IT tickets 日本',
  testing_criteria: [
    {
      id: 'label-1',
      type: 'string_check',
      name: 'Match the label',
      input: '{{ sample.output_text }}',
      reference: '{{ item.label }}',
      operation: 'eq',
    },
    { id: 'judge-2', type: 'score_model', name: 'Judge', model: 'm', input: [], pass_threshold: 0.5 },
  ],
} as unknown as Eval

const runOf = (passed: number, failed: number, errored: number, more: Partial<EvalRun> = {}) =>
  ({
    id: 'evalrun_1',
    eval_id: 'eval_1',
    status: 'completed',
    report_url: 'http://127.0.0.1:8080/dashboard/evals/eval_1/runs/evalrun_1',
    result_counts: { total: passed + failed + errored, passed, failed, errored },
    per_model_usage: [
      {
        model_name: 'rehearsal-2026-01-01',
        invocation_count: passed + failed,
        prompt_tokens: 12 * (passed + failed),
        completion_tokens: passed + failed,
        total_tokens: 13 * (passed + failed),
        cached_tokens: 0,
      },
    ],
    per_testing_criteria_results: [
      { testing_criteria: 'label-1', passed, failed },
      { testing_criteria: 'judge-2', passed: passed + failed, failed: 0 },
    ],
    error: null,
    ...more,
  }) as unknown as EvalRun

const item = (n: number, more: object) =>
  ({
    datasource_item_id: n,
    datasource_item: { label: 'Hardware' },
    status: 'fail',
    results: [
      { name: 'label-1', type: 'string_check', passed: false, score: 0 },
      { name: 'judge-2', type: 'score_model', passed: false, score: 0.333_333 },
    ],
    sample: { output: [{ role: 'assistant', content: 'Soft\u001b[2Jware <&> "x"' }], error: null },
    ...more,
  }) as unknown as OutputItem

const fill = await loadFill()
const failing = [
  item(1, {
    status: 'error',
    results: [],
    sample: { output: [], error: { code: 'invalid_row', message: 'Line 2: it is not JSON.' } },
  }),
  item(4, {}),
].map((one) => failingRow(one, tickets.testing_criteria, fill))

const reportOf = (run: EvalRun, bounds = strict): RunReport => ({
  eval: tickets,
  run,
  failing,
  verdict: verdictOf(run, bounds),
  elapsedMs: 3_210,
})

test('the report says what passed, what it used, which rows did not pass and why', () => {
  assert.deepEqual(reportLines(reportOf(runOf(8, 1, 1)), 80, plain), [
    'IT tickets 日本',
    '  eval_1 evalrun_1',
    '  10 rows in 3 s',
    '',
    '  Criterion        passed  failed    rate',
    '  Match the label       8       1  88.8 %',
    '  Judge                 9       0   100 %',
    '',
    '  Model                 calls  input  cached  output',
    '  rehearsal-2026-01-01      9    108       0       9',
    '',
    '  Rows that did not pass',
    '  row 2 invalid_row: Line 2: it is not JSON.',
    '  row 5 Match the label: not equal',
    '      expected  Hardware',
    '      got       Soft [2Jware <&> "x"',
    '        Judge: scored 0.333, and 0.5 passes',
    '      got       Soft [2Jware <&> "x"',
    '',
    '  Report: http://127.0.0.1:8080/dashboard/evals/eval_1/runs/evalrun_1',
    '! 1 of 10 rows could not be judged; at most 0 may.',
  ])
})

test('it fits a narrow terminal, but for addresses that people copy, and says how many rows it leaves out', () => {
  for (const columns of [40, 80, 120]) {
    const lines = reportLines(reportOf(runOf(88_000, 10_000, 2_000)), columns, inColour)
    for (const line of lines.map((one) => one.replaceAll(/\u001b\[\d+m/g, ''))) {
      if (/Report:|^. [\d,]+ of/.test(line)) continue
      assert.ok(widthOf(line) <= columns, `${columns}: ${line}`)
    }
    assert.match(lines.join('\n'), /The first 2 of 12,000/)
  }
})

test('a run without a row has a report too', () => {
  const none = { per_model_usage: null, per_testing_criteria_results: null, status: 'failed' } as const
  const run = runOf(0, 0, 0, {
    ...none,
    error: { code: 'empty_source', message: 'The source of the run has no rows.' },
  })
  const lines = reportLines({ ...reportOf(run), failing: [] }, 80, plain)
  assert.equal(lines.at(-1), '! The run failed: The source of the run has no rows.')
  assert.equal(lines[2], '  0 rows in 3 s')
})

test('the exit code tells a pipeline what happened', () => {
  const code = (run: EvalRun, bounds = strict) => exitCodes[verdictOf(run, bounds).outcome]
  const loose = { passRateMin: 0.9, errorsMax: 1 }
  assert.equal(code(runOf(10, 0, 0)), 0)
  assert.equal(code(runOf(9, 1, 0)), 1)
  assert.equal(code(runOf(9, 1, 1), loose), 0)
  assert.equal(code(runOf(8, 2, 0), loose), 1)
  assert.equal(code(runOf(9, 1, 2), loose), 2)
  assert.equal(code(runOf(10, 0, 0, { status: 'canceled' })), 2)
  assert.equal(code(runOf(0, 0, 1), loose), 1)
})

test('a program reads the same', () => {
  const { failing_rows: rows, criteria, ...rest } = reportJson(reportOf(runOf(8, 2, 0))) as Record<string, unknown>
  assert.deepEqual([rest['outcome'], rest['exit_code'], rest['pass_rate'], rest['elapsed_ms']], ['below', 1, 0.8, 3210])
  assert.deepEqual((criteria as unknown[])[0], { id: 'label-1', name: 'Match the label', passed: 8, failed: 2 })
  assert.equal((rows as unknown[]).length, 2)
})

test('JUnit is escaped, and rows within the bounds turn no pipeline red', () => {
  const red = junitOf(reportOf(runOf(8, 1, 1)), strict)
  assert.match(red, /<testsuite name="IT tickets 日本" tests="5" failures="2" errors="2" skipped="0" time="3.210">/)
  assert.match(red, /name="row 5">\n +<failure message="Match the label: not equal; Judge: .*">expected: Hardware\n/)
  assert.match(red, /got: Soft\ufffd\[2Jware &lt;&amp;&gt; &quot;x&quot;/)
  const loose = { passRateMin: 0.5, errorsMax: 5 }
  const green = junitOf(reportOf(runOf(8, 1, 1), loose), loose)
  assert.match(green, /tests="5" failures="0" errors="0" skipped="2"/)
})

test('JUnit is red where the exit code is not 0, and names the bound as it was written', () => {
  const bounds = { passRateMin: 0.29, errorsMax: 5 }
  const nothingJudged = junitOf(reportOf(runOf(0, 0, 2), { ...bounds, passRateMin: 0 }), { ...bounds, passRateMin: 0 })
  assert.match(nothingJudged, /<testsuites tests="5" failures="2"/)
  assert.match(junitOf(reportOf(runOf(8, 1, 1), bounds), bounds), /name="at least 29\.0 % of rows pass"/)
})

test('a score that did not pass is not shown as the one that passes', () => {
  const near = item(0, { results: [{ name: 'judge-2', type: 'score_model', passed: false, score: 0.4996 }] })
  const [reason] = failingRow(near, tickets.testing_criteria, fill).reasons
  assert.equal(reason?.says, 'scored 0.499, and 0.5 passes')
})
