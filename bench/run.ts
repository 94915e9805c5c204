/**
 * Load scenarios, each beside a twin in the same run, so that only ratios are judged.
 *
 *   node bench/run.ts                 full size; fails when a target is missed
 *   node bench/run.ts get-file        one scenario
 *   node bench/run.ts --save          full size, and keep the ratios as the baseline
 *   node bench/run.ts --ci            small sizes; fails only beyond twice the target
 *   node bench/run.ts get-file --profile DIR   leaves a CPU profile of the api process
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { holdSharedDocker } from '../dev/engines/shared-docker.ts'
import { recordCounts } from '../tools/testing/record-counts.ts'
import type { BenchOptions } from './bench-stack.ts'
import { boundText, ciBound, holds, type Figure } from './figure.ts'
import { benchChatGateways } from './chat-gateways.ts'
import { benchGetFile } from './get-file.ts'
import { benchLimitsAdmission } from './limits-admission.ts'
import { benchListFiles } from './list-files.ts'
import { benchResponsesPlain } from './responses-plain.ts'
import { benchResponsesSocket } from './responses-socket.ts'
import { benchResponsesStore } from './responses-store.ts'
import { benchResponsesStream } from './responses-stream.ts'
import { benchSandboxEgress } from './sandbox-egress.ts'
import { benchSandboxExec } from './sandbox-exec.ts'
import { benchSandboxIdle } from './sandbox-idle.ts'
import { benchSandboxLazy } from './sandbox-lazy.ts'
import { benchSandboxStart } from './sandbox-start.ts'
import { benchWebhooks } from './webhooks.ts'

const baselineFile = new URL('baseline.json', import.meta.url)

interface Asked extends BenchOptions {
  readonly ci: boolean
}

type Scenario = (asked: Asked, say: (line: string) => void) => Promise<Figure[]>

const scenarios: Readonly<Record<string, Scenario>> = {
  'get-file': ({ ci, profileDir }, say) =>
    benchGetFile(
      ci
        ? { profileDir, rounds: 5, seconds: 1.5, warmUpRequests: 5_000, filesTotal: 5_000 }
        : { profileDir, rounds: 5, seconds: 4, warmUpRequests: 30_000, filesTotal: 100_000 },
      say,
    ),
  'list-files': ({ ci, profileDir }, say) =>
    benchListFiles(
      ci
        ? { profileDir, rounds: 5, seconds: 0.3, filesLarge: 200_000, filesSmall: 5_000 }
        : { profileDir, rounds: 5, seconds: 2, filesLarge: 5_000_000, filesSmall: 5_000 },
      say,
    ),
  webhooks: ({ ci }, say) =>
    benchWebhooks(
      ci
        ? { rounds: 1, deliveries: 8_000, latencySeconds: 3, urgentEvents: 50, urgentRounds: 3 }
        : { rounds: 5, deliveries: 100_000, latencySeconds: 10, urgentEvents: 200, urgentRounds: 5 },
      say,
    ),
  'responses-plain': ({ ci, profileDir }, say) =>
    benchResponsesPlain(
      ci
        ? { profileDir, rounds: 5, seconds: 0.5, warmUpRequests: 1_000 }
        : { profileDir, rounds: 5, seconds: 4, warmUpRequests: 20_000 },
      say,
    ),
  'responses-stream': ({ ci, profileDir }, say) =>
    benchResponsesStream(
      ci
        ? { profileDir, rounds: 3, seconds: 0.5, warmUpRequests: 200 }
        : { profileDir, rounds: 5, seconds: 4, warmUpRequests: 1_000 },
      say,
    ),
  'limits-admission': ({ ci, profileDir }, say) =>
    benchLimitsAdmission(
      ci
        ? { profileDir, rounds: 5, seconds: 0.4, warmUpRequests: 500, admissions: 3_000 }
        : { profileDir, rounds: 5, seconds: 4, warmUpRequests: 20_000, admissions: 40_000 },
      say,
    ),
  // Not in CI: a history long enough to tell anything takes longer to make than CI has for all benches.
  'responses-store': ({ ci, profileDir }, say) =>
    ci
      ? Promise.resolve([])
      : benchResponsesStore(
          { profileDir, rounds: 5, seconds: 4, warmUpRequests: 3_000, historyItems: [10, 100, 1_000] },
          say,
        ),
  // Nor this: it installs other people's programs.
  'chat-gateways': ({ ci, profileDir }, say) =>
    ci
      ? Promise.resolve([])
      : benchChatGateways({ profileDir, rounds: 5, seconds: 4, warmUpRequests: 2_000, warmUpStreams: 300 }, say),
  'responses-socket': ({ ci, profileDir }, say) =>
    benchResponsesSocket(ci ? { profileDir, rounds: 5, loops: 1 } : { profileDir, rounds: 5, loops: 10 }, say),
  'sandbox-exec': ({ ci }, say) =>
    benchSandboxExec(
      ci ? { rounds: 3, samples: 4, runtimes: ['runc'] } : { rounds: 5, samples: 40, runtimes: ['runc', 'runsc'] },
      say,
    ),
  'sandbox-start': ({ ci }, say) =>
    benchSandboxStart(
      ci ? { rounds: 1, samples: 2, runtimes: ['runc'] } : { rounds: 5, samples: 10, runtimes: ['runc', 'runsc'] },
      say,
    ),
  'sandbox-lazy': ({ ci, profileDir }, say) =>
    benchSandboxLazy(ci ? { profileDir, rounds: 3, samples: 2 } : { profileDir, rounds: 5, samples: 20 }, say),
  // Neither of these in CI: they are told and not judged.
  'sandbox-egress': ({ ci }, say) =>
    ci ? Promise.resolve([]) : benchSandboxEgress({ rounds: 5, samples: 200, runtimes: ['runc', 'runsc'] }, say),
  'sandbox-idle': ({ ci }, say) => (ci ? Promise.resolve([]) : benchSandboxIdle({ containers: 100 }, say)),
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

/** Watching costs more than what is watched: such a run says where time goes, and judges nothing. */
const unjudged = (figure: Figure): Figure => ({ ...figure, target: null })

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

/** Says how long it took, for whoever has to make it shorter. */
async function timed(name: string, scenario: Scenario, asked: Asked): Promise<Figure[]> {
  const began = performance.now()
  const figures = await scenario(asked, (line) => console.log(line))
  if (figures.length > 0) console.log(`${name}: ${((performance.now() - began) / 1_000).toFixed(0)} s`)
  return figures
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      ci: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      profile: { type: 'string' },
    },
    allowPositionals: true,
  })
  const unknown = positionals.find((name) => scenarios[name] === undefined)
  if (unknown !== undefined) {
    console.error(`There is no scenario ${unknown}; take ${Object.keys(scenarios).join(', ')}.`)
    return 2
  }
  const chosen = Object.entries(scenarios).filter(([name]) => positionals.length === 0 || positionals.includes(name))
  const asked = { ci: values.ci, profileDir: values.profile }
  const measured: Figure[] = []
  // Several scenarios run containers, and each would start and end the engine.
  const docker = await holdSharedDocker()
  try {
    for (const [name, scenario] of chosen) measured.push(...(await timed(name, scenario, asked)))
  } finally {
    await docker.stop()
  }
  const figures = asked.profileDir === undefined ? measured : measured.map(unjudged)
  const baseline = readBaseline()
  const head = ['figure', 'ratio', values.ci ? 'CI bound' : 'target', 'baseline', 'measured', '']
  printTable([head, ...figures.map((figure) => rowOf(figure, baseline, values.ci))])
  if (values.save && !values.ci && asked.profileDir === undefined) saveBaseline(baseline, figures)
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
