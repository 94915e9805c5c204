/**
 * Runs over many rows against a bare loop of the same provider calls: a model is sampled, two graders compare texts and
 * one asks a model, so every row makes two calls. Runs take turns with the loop, which has as many calls under way; the
 * median of the ratios counts. Meanwhile the memory of the server is looked at.
 *
 *   node e2e/evals/rows.load.ts --rows 100000
 */
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { cpuSeconds, familyCpuSeconds } from '../../bench/process-cpu.ts'
import { median } from '../../bench/figure.ts'
import { Checks } from '../load/checks.ts'
import { printTable } from '../load/print-table.ts'
import { Child } from '../webhooks/child.ts'
import type { BareLoop, BareRound } from './bare-loop.ts'
import { FamilyMemory } from './family-memory.ts'
import { usageOf, wrongIn } from './row-calls.ts'
import { beginRun, endOf, graders, newRowsEval, uploadRows } from './rows-eval.ts'
import { withRowsFleet, type RowsFleet } from './rows-fleet.ts'

interface Sizes {
  readonly rows: number
  readonly rounds: number
  readonly latencyMs: number
  /** What the ratio must reach. */
  readonly ratioMin: number
}

/** As many rows as a worker has in hand by default. */
const workers = 128
export const ratioTarget = 0.8
const growthMegabytesMax = 300
const warmUpRows = 500
/** Rows of the warm-up and of the loop have numbers beyond those that are counted. */
const uncountedFrom = 5_000_000
/** Enough for many turns of every worker. */
const bareRowsMax = 4_000
const eventBoundMs = 30_000
const boundOf = (rows: number) => 120_000 + rows * 60

interface Round {
  readonly rowsPerSecond: number
  readonly bare: BareRound
  /** Microseconds of processor time for a row, by process. */
  readonly cpu: Readonly<Record<string, number>>
}

/** A run from its creation to its end, by the database's clock. */
async function runOnce(rows: RowsFleet, checks: Checks, evalId: string, from: number, count: number): Promise<number> {
  const { fleet } = rows
  const client = fleet.client()
  const begun = await beginRun(client, evalId, await uploadRows(client, from, count))
  const run = await endOf(client, begun, boundOf(count))
  const wrong = wrongIn(from, count)
  const counts = { total: count, errored: 0, failed: wrong, passed: count - wrong }
  const usage = usageOf(from, count)
  const [used] = run.per_model_usage ?? []
  const criteria = run.per_testing_criteria_results ?? []
  checks.expect(
    `rows ${from} to ${from + count - 1}: completed, and everything adds up`,
    run.status === 'completed' &&
      isDeepStrictEqual(run.result_counts, counts) &&
      criteria.length === graders &&
      criteria.every(({ passed, failed }) => passed === counts.passed && failed === wrong) &&
      used?.invocation_count === usage.calls &&
      used.prompt_tokens === usage.prompt &&
      used.completion_tokens === usage.completion,
    JSON.stringify(run.result_counts),
  )
  const { rows: times } = await fleet.db.query<{ seconds: number }>(
    `select extract(epoch from ended_at - created_at)::float8 as seconds from evals.run where id = $1`,
    [begun.id],
  )
  return count / (times[0]?.seconds ?? Number.NaN)
}

function cpuOf({ fleet }: RowsFleet): Record<string, number> {
  const { postgres, restate, valkey } = fleet.stack
  return {
    worker: familyCpuSeconds(fleet.of('worker', 0).process.pid),
    api: cpuSeconds(fleet.of('api', 0).process.pid),
    postgres: familyCpuSeconds(postgres?.pid ?? 0),
    restate: cpuSeconds(restate.pid),
    valkey: cpuSeconds(valkey?.pid ?? 0),
  }
}

async function measureRound(
  rows: RowsFleet,
  checks: Checks,
  bare: Child,
  { evalId, from, count }: { evalId: string; from: number; count: number },
): Promise<Round> {
  const { provider } = rows
  const [before, asked] = [cpuOf(rows), await provider.counts()]
  const rowsPerSecond = await runOnce(rows, checks, evalId, from, count)
  const [after, answered] = [cpuOf(rows), await provider.counts()]
  const perRow = (seconds: number) => (seconds * 1e6) / count
  const cpu = Object.fromEntries(
    Object.entries(after).map(([name, seconds]) => [name, perRow(seconds - (before[name] ?? 0))]),
  )
  const loop: BareLoop = {
    url: provider.url,
    bodies: await provider.bodies(),
    from: uncountedFrom,
    rows: Math.min(bareRowsMax, count),
    workers,
  }
  const round = await bare.ask<BareRound>(loop)
  return { rowsPerSecond, bare: round, cpu: { ...cpu, provider: (answered.cpuMicros - asked.cpuMicros) / count } }
}

function printRounds(rounds: readonly Round[]): void {
  const names = Object.keys(rounds[0]?.cpu ?? {})
  printTable([
    ['round', 'rows/s', 'bare', 'ratio', ...names.map((name) => `${name} µs/row`), 'bare µs/row'],
    ...rounds.map(({ rowsPerSecond, bare, cpu }, at) => [
      at + 1,
      rowsPerSecond.toFixed(1),
      bare.rowsPerSecond.toFixed(1),
      (rowsPerSecond / bare.rowsPerSecond).toFixed(3),
      ...names.map((name) => Math.round(cpu[name] ?? 0)),
      Math.round(bare.cpuMicros),
    ]),
  ])
}

export async function proveRows(rows: RowsFleet, checks: Checks, sizes: Sizes): Promise<void> {
  const { fleet, provider, sink } = rows
  const bare = new Child(new URL('bare-loop-process.ts', import.meta.url))
  const each = Math.floor(sizes.rows / sizes.rounds)
  await provider.begin(each * sizes.rounds, sizes.latencyMs)
  const evalId = await newRowsEval(fleet.client())
  await runOnce(rows, checks, evalId, uncountedFrom, warmUpRows)
  await bare.ask({ url: provider.url, bodies: await provider.bodies(), from: uncountedFrom, rows: warmUpRows, workers })
  const nodes = [fleet.of('worker', 0), fleet.of('api', 0)]
  const memory = new FamilyMemory(nodes.map(({ process: one }) => one.pid))
  const rounds: Round[] = []
  try {
    for (let round = 0; round < sizes.rounds; round += 1)
      rounds.push(await measureRound(rows, checks, bare, { evalId, from: round * each, count: each }))
  } finally {
    await memory.end()
    await bare.end()
  }
  printRounds(rounds)
  const ratio = median(rounds.map(({ rowsPerSecond, bare: loop }) => rowsPerSecond / loop.rowsPerSecond))
  checks.expect(
    `rows per second are at least ${sizes.ratioMin} of a bare loop's`,
    ratio >= sizes.ratioMin,
    `${ratio.toFixed(3)}; the target is ${ratioTarget}`,
  )
  for (const [at, { began, growth }] of memory.seen.entries())
    checks.expect(
      `the memory of ${nodes[at]?.name} grows by less than ${growthMegabytesMax} MB`,
      growth < growthMegabytesMax,
      `${growth} MB above ${began} MB`,
    )
  const { sample, grade } = await provider.calls()
  checks.expect(
    'the provider was asked twice for every row, and for nothing else',
    sample.every((times) => times === 1) &&
      grade.every((times) => times === 1) &&
      (await provider.counts()).strays === 0,
    `${sample.length} rows`,
  )
  await becomesTrue(() => sink.byWebhookId.size > sizes.rounds, eventBoundMs)
  const told = [...sink.typesOf().values()].map((types) => types.join())
  checks.expect(
    'one webhook for each run',
    told.length === sizes.rounds + 1 && told.every((types) => types === 'eval.run.succeeded'),
    told.join(' '),
  )
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '2000' },
      rounds: { type: 'string', default: '5' },
      latency: { type: 'string', default: '250' },
      profile: { type: 'string' },
    },
  })
  const checks = new Checks()
  const { rows, rounds, latency, profile } = values
  const sizes = { rows: Number(rows), rounds: Number(rounds), latencyMs: Number(latency), ratioMin: ratioTarget }
  // For finding out, not for figures: each process leaves a profile when it is asked to end.
  const settings = profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` }
  await withRowsFleet({ ...settings }, async (rowsFleet) => {
    await proveRows(rowsFleet, checks, sizes)
    if (profile !== undefined) for (const { process: one } of rowsFleet.fleet.nodes) await one.stop()
  })
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
