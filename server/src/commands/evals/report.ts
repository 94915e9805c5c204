import type { Eval } from '@switchyard/contracts/evals/evals.ts'
import type { EvalRun } from '@switchyard/contracts/evals/runs.ts'
import { percent } from '#platform/std/percent.ts'
import { clip, duration, grouped, printable, table, type Paint } from './display.ts'
import type { FailingRow, Reason } from './failing-rows.ts'
import { exitCodes, passRate, type Verdict } from './verdict.ts'

export interface RunReport {
  readonly eval: Eval
  readonly run: EvalRun
  readonly failing: readonly FailingRow[]
  readonly verdict: Verdict
  readonly elapsedMs: number
}

const cachedFromColumns = 60

const marks = { passed: ['green', '✓'], below: ['red', '✗'], broken: ['magenta', '!'] } as const

/** What stands in the terminal when all is over. */
export function reportLines(
  { eval: of, run, failing, verdict, elapsedMs }: RunReport,
  columns: number,
  paint: Paint,
): string[] {
  const { total } = run.result_counts
  const [colour, mark] = marks[verdict.outcome]
  return [
    paint('bold', clip(printable(of.name), columns)),
    ...[`${of.id} ${run.id}`, `${grouped(total)} ${total === 1 ? 'row' : 'rows'} in ${duration(elapsedMs)}`].map(
      (line) => `  ${line}`,
    ),
    ...section(criteriaTable(of, run, columns)),
    ...section(usageTable(run, columns)),
    ...section(failingLines(run, failing, columns, paint)),
    '',
    `  Report: ${run.report_url}`,
    paint(colour, `${mark} ${verdict.says}`),
  ]
}

const section = (lines: readonly string[]) => (lines.length === 0 ? [] : ['', ...lines])

const namesOf = (of: Eval) => new Map(of.testing_criteria.map(({ id, name }) => [id, name]))

function criteriaTable(of: Eval, { per_testing_criteria_results: results }: EvalRun, columns: number): string[] {
  if (results === null) return []
  const names = namesOf(of)
  const rows = results.map(({ testing_criteria: id, passed, failed }) => [
    printable(names.get(id) ?? id),
    grouped(passed),
    grouped(failed),
    percent(passed, passed + failed),
  ])
  return table(['Criterion', 'passed', 'failed', 'rate'], rows, columns)
}

function usageTable({ per_model_usage: usage }: EvalRun, columns: number): string[] {
  if (usage === null || usage.length === 0) return []
  const cached = columns >= cachedFromColumns
  const rows = usage.map((one) => [
    printable(one.model_name),
    grouped(one.invocation_count),
    grouped(one.prompt_tokens),
    ...(cached ? [grouped(one.cached_tokens)] : []),
    grouped(one.completion_tokens),
  ])
  return table(['Model', 'calls', 'input', ...(cached ? ['cached'] : []), 'output'], rows, columns)
}

function failingLines(
  { result_counts: counts }: EvalRun,
  failing: readonly FailingRow[],
  columns: number,
  paint: Paint,
) {
  const total = counts.failed + counts.errored
  if (failing.length === 0) return []
  const head =
    failing.length < total
      ? `The first ${grouped(failing.length)} of ${grouped(total)} rows that did not pass`
      : 'Rows that did not pass'
  return [clip(`  ${head}`, columns), ...failing.flatMap((row) => rowLines(row, columns, paint))]
}

function rowLines({ n, status, reasons }: FailingRow, columns: number, paint: Paint): string[] {
  const name = `  row ${grouped(n + 1)} `
  const colour = status === 'error' ? 'magenta' : 'red'
  return reasons.flatMap((reason, at) => {
    const lead = at === 0 ? name : ' '.repeat(name.length)
    const said = clip(
      printable(`${reason.criterion === null ? '' : `${reason.criterion}: `}${reason.says}`),
      columns - lead.length,
    )
    return [`${paint(colour, lead)}${said}`, ...comparison(reason, columns)]
  })
}

function comparison({ expected, got }: Reason, columns: number): string[] {
  const line = (name: string, text: string | undefined) =>
    text === undefined ? [] : [`      ${name}${clip(printable(text) || '(nothing)', columns - 6 - name.length)}`]
  return [...line('expected  ', expected), ...line('got       ', got)]
}

/** The same for a program. */
export function reportJson({ eval: of, run, failing, verdict, elapsedMs }: RunReport): object {
  const names = namesOf(of)
  return {
    outcome: verdict.outcome,
    exit_code: exitCodes[verdict.outcome],
    message: verdict.says,
    eval_id: of.id,
    run_id: run.id,
    report_url: run.report_url,
    status: run.status,
    error: run.error,
    result_counts: run.result_counts,
    pass_rate: passRate(run.result_counts),
    criteria: (run.per_testing_criteria_results ?? []).map(({ testing_criteria: id, passed, failed }) => ({
      id,
      name: names.get(id) ?? id,
      passed,
      failed,
    })),
    per_model_usage: run.per_model_usage ?? [],
    failing_rows: failing,
    elapsed_ms: Math.round(elapsedMs),
  }
}
