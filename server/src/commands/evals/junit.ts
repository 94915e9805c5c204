import { percent } from '#platform/std/percent.ts'
import type { FailingRow } from './failing-rows.ts'
import type { RunReport } from './report.ts'
import { isBelow, type Bounds } from './verdict.ts'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/** What XML 1.0 cannot hold in any form. */
const forbidden = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

const xml = (text: string) => text.replaceAll(forbidden, '\ufffd').replaceAll(/[&<>"]/g, (one) => entities[one] ?? one)

interface Case {
  readonly name: string
  readonly kind: 'passed' | 'failure' | 'error' | 'skipped'
  readonly says?: string
  readonly text?: string
}

function caseLines(suite: string, { name, kind, says = '', text = '' }: Case): string[] {
  const head = `    <testcase classname="${xml(suite)}" name="${xml(name)}"`
  if (kind === 'passed') return [`${head}/>`]
  return [`${head}>`, `      <${kind} message="${xml(says)}">${xml(text)}</${kind}>`, '    </testcase>']
}

/** A run within its bounds is green, whatever became of single rows: those are then shown as skipped. */
export function junitOf(report: RunReport, bounds: Bounds): string {
  const { run, verdict, elapsedMs } = report
  const { result_counts: counts, status } = run
  const manyErrors = counts.errored > bounds.errorsMax
  const below = isBelow(counts, bounds)
  const ended = status === 'completed'
  const cases: Case[] = [
    ended
      ? { name: 'the run completes', kind: 'passed' }
      : { name: 'the run completes', kind: 'error', says: verdict.says },
    boundCase(`at most ${bounds.errorsMax} rows err`, manyErrors ? 'error' : 'passed', `${counts.errored} erred`),
    boundCase(
      `at least ${percent(bounds.passRateMin, 1)} of rows pass`,
      below ? 'failure' : 'passed',
      `${counts.passed} of ${counts.passed + counts.failed} passed`,
    ),
    ...report.failing.map((row) => rowCase(row, row.status === 'error' ? manyErrors : below)),
  ]
  const count = (kind: Case['kind']) => cases.filter((one) => one.kind === kind).length
  const sums = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`
  const name = report.eval.name
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${sums}>`,
    `  <testsuite name="${xml(name)}" ${sums} time="${(elapsedMs / 1_000).toFixed(3)}">`,
    `    <properties><property name="report" value="${xml(run.report_url)}"/></properties>`,
    ...cases.flatMap((one) => caseLines(name, one)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

const boundCase = (name: string, kind: Case['kind'], says: string): Case =>
  kind === 'passed' ? { name, kind } : { name, kind, says }

function rowCase({ n, status, reasons }: FailingRow, counts: boolean): Case {
  const kind = !counts ? 'skipped' : status === 'error' ? 'error' : 'failure'
  const says = reasons
    .map(({ criterion, says: said }) => (criterion === null ? said : `${criterion}: ${said}`))
    .join('; ')
  const texts = reasons.flatMap(({ expected, got }) => [
    ...(expected === undefined ? [] : [`expected: ${expected}`]),
    ...(got === undefined ? [] : [`got: ${got}`]),
  ])
  return { name: `row ${n + 1}`, kind, says, text: texts.join('\n') }
}
