/**
 * Load scenarios, each beside a twin in the same run, so that only ratios are judged.
 *
 *   node bench/run.ts                 full size; fails when a target is missed
 *   node bench/run.ts get-file        one scenario
 *   node bench/run.ts --save          full size, and keep the ratios as the baseline
 *   node bench/run.ts --ci            small sizes; fails only beyond twice the target
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { recordCounts } from '../tools/testing/record-counts.ts'
import { boundText, ciBound, holds, type Figure } from './figure.ts'
import { benchGetFile } from './get-file.ts'
import { benchListFiles } from './list-files.ts'

const baselineFile = new URL('baseline.json', import.meta.url)

type Scenario = (ci: boolean, say: (line: string) => void) => Promise<Figure[]>

const scenarios: Readonly<Record<string, Scenario>> = {
  'get-file': (ci, say) =>
    benchGetFile(
      ci
        ? { rounds: 5, seconds: 1.5, warmUpRequests: 5_000, filesTotal: 5_000 }
        : { rounds: 5, seconds: 4, warmUpRequests: 30_000, filesTotal: 100_000 },
      say,
    ),
  'list-files': (ci, say) =>
    benchListFiles(
      ci
        ? { rounds: 5, seconds: 0.3, filesLarge: 200_000, filesSmall: 5_000 }
        : { rounds: 5, seconds: 2, filesLarge: 5_000_000, filesSmall: 5_000 },
      say,
    ),
}

/** Ratios of the last full run that was kept, by the name of the figure. */
type Baseline = Record<string, number>

function readBaseline(): Baseline {
  try {
    return JSON.parse(readFileSync(baselineFile, 'utf8')) as Baseline
  } catch {
    return {}
  }
}

function saveBaseline(kept: Baseline, figures: readonly Figure[]): void {
  const measured = Object.fromEntries(figures.map(({ name, ratio }) => [name, Number(ratio.toFixed(2))]))
  writeFileSync(baselineFile, `${JSON.stringify({ ...kept, ...measured }, null, 2)}\n`)
}

function rowOf(figure: Figure, baseline: Baseline, ci: boolean): string[] {
  const bound = boundOf(figure, ci)
  return [
    figure.name,
    figure.ratio.toFixed(2),
    boundText(bound),
    baseline[figure.name]?.toFixed(2) ?? '-',
    figure.measured,
    bound === null ? '' : holds(figure.ratio, bound) ? 'ok' : 'MISSED',
  ]
}

const boundOf = ({ target }: Figure, ci: boolean) => (target !== null && ci ? ciBound(target) : target)

function printTable(rows: readonly string[][]): void {
  const widths = rows[0]?.map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { ci: { type: 'boolean', default: false }, save: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const unknown = positionals.find((name) => scenarios[name] === undefined)
  if (unknown !== undefined) {
    console.error(`There is no scenario ${unknown}; take ${Object.keys(scenarios).join(', ')}.`)
    return 2
  }
  const chosen = Object.entries(scenarios).filter(([name]) => positionals.length === 0 || positionals.includes(name))
  const figures: Figure[] = []
  for (const [, scenario] of chosen) figures.push(...(await scenario(values.ci, (line) => console.log(line))))
  const baseline = readBaseline()
  const head = ['figure', 'ratio', values.ci ? 'CI bound' : 'target', 'baseline', 'measured', '']
  printTable([head, ...figures.map((figure) => rowOf(figure, baseline, values.ci))])
  if (values.save && !values.ci) saveBaseline(baseline, figures)
  const judged = figures.flatMap((figure) => {
    const bound = boundOf(figure, values.ci)
    return bound === null ? [] : [holds(figure.ratio, bound)]
  })
  const passed = judged.filter(Boolean).length
  const failed = judged.length - passed
  recordCounts('bench', { passed, failed })
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
