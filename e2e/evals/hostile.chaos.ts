/**
 * Broken and malicious inputs of evals: lines of files, schemas, templates, criteria and Python graders, through the API of
 * a whole stack with real containers. Each ends as the error of its own row or is refused by name; rows and runs beside it
 * pass; every run completes; server, host and engine are as before.
 *
 *   node e2e/evals/hostile.chaos.ts --all --runtime runc
 *   node e2e/evals/hostile.chaos.ts --only 'criterion:'
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Checks } from '../load/checks.ts'
import { auditRemains } from '../sandbox/audit-remains.ts'
import { inLanes } from '../sandbox/in-lanes.ts'
import { SandboxFleet } from '../sandbox/sandbox-fleet.ts'
import { graderProcesses } from './grader-processes.ts'
import { playLines, type HostileLineInput } from './hostile-file.ts'
import { hostileInputs } from './hostile-inputs.ts'
import { planOf, type PlannedInput } from './hostile-plans.ts'
import { play, type Verdict } from './hostile-runs.ts'
import { OrdinaryRuns } from './ordinary-runs.ts'
import { isInShare } from './hostile-share.ts'
import { ServerWatch } from './server-watch.ts'

const bounds = { growthMegabytesMax: 300, lateMsMax: 5_000 }
/** Runs under way at once: of graders that take their time, and of the rest. */
const lanes = { python: 6, others: 8 }
const saidMax = 160
const disksMegabytesMax = 200

function tell(checks: Checks, verdicts: readonly Verdict[]): void {
  for (const { name, said, wrong } of verdicts) {
    const shown = said.replaceAll(/[^\x20-\x7e]/g, '.').slice(0, saidMax)
    checks.expect(name, wrong === null, wrong === null ? shown : `${wrong}: ${shown}`)
  }
}

interface Played {
  readonly all: boolean
  readonly only: string
}

async function playAll(fleet: SandboxFleet, checks: Checks, { all, only }: Played): Promise<number> {
  const client = fleet.client()
  const inputs = hostileInputs.filter((input) => input.name.startsWith(only) && (all || isInShare(input)))
  const lines = inputs.filter((input): input is HostileLineInput => input.kind === 'line')
  const planned = inputs.filter((input): input is PlannedInput => input.kind !== 'line')
  const python = planned.filter(({ kind }) => kind === 'python')
  const others = planned.filter(({ kind }) => kind !== 'python')
  const began = performance.now()
  const timed = async (name: string, work: Promise<Verdict[]>) => {
    const verdicts = await work
    console.log(`  ${name}: ${((performance.now() - began) / 1_000).toFixed(1)} s`)
    return verdicts
  }
  const playEach = async (list: readonly PlannedInput[], count: number) => {
    const played = await inLanes(count, list.length, (at) => play(client, planOf(list[at] as PlannedInput)))
    return played.flat()
  }
  const verdicts = await Promise.all([
    timed('lines', lines.length === 0 ? Promise.resolve([]) : playLines(client, lines)),
    timed('schemas, templates and criteria', playEach(others, lanes.others)),
    timed('python', playEach(python, lanes.python)),
  ])
  for (const list of verdicts) tell(checks, list)
  return inputs.length
}

/** Nothing of a grader is seen by its user, nor left behind. */
async function auditHost(fleet: SandboxFleet, checks: Checks): Promise<void> {
  const { data: seen } = await fleet.client().containers.list()
  checks.expect('no container of a grader is listed', seen.length === 0, `${seen.length} listed`)
  const { rows } = await fleet.db.query<{ open: number }>(
    `select count(*)::int as open from containers.container where status in ('active', 'reserved')`,
  )
  checks.expect('no container of a grader is open', rows[0]?.open === 0, `${rows[0]?.open} open`)
  await auditRemains(fleet, checks, fleet.hosts)
  const left = graderProcesses(fleet.folder)
  checks.expect('no process of a grader is left on the host', left.length === 0, left.join('; '))
  const size = execFileSync('du', ['-sm', '--one-file-system', join(fleet.folder, 'hosts')]).toString()
  const megabytes = Number.parseInt(size, 10)
  checks.expect(
    `folders of hosts take less than ${disksMegabytesMax} MB`,
    megabytes < disksMegabytesMax,
    `${megabytes} MB`,
  )
}

async function proveHostile(fleet: SandboxFleet, checks: Checks, played: Played): Promise<void> {
  const client = fleet.client()
  const ordinary = await OrdinaryRuns.prepare(client)
  // Once by itself, so that what is loaded with the first run is not taken for growth.
  tell(checks, await ordinary.once())
  const [api, worker] = [fleet.of('api'), fleet.of('worker')]
  const watches = [
    { node: api, url: `${client.baseURL}/models`, headers: { authorization: `Bearer ${client.apiKey}` } },
    ...[worker, ...fleet.hosts.map(({ node }) => node)].map((node) => ({ node, url: `${node.internalUrl}/healthz` })),
  ].map((watched) => new ServerWatch(watched))
  ordinary.begin()
  const count = await playAll(fleet, checks, played)
  console.log(`  ${count} inputs`)
  await ordinary.end(checks)
  for (const watch of watches) await watch.end(checks, bounds)
  await auditHost(fleet, checks)
  const after = await ordinary.once()
  checks.expect('an ordinary run afterwards passes', after.length === 0, after.map(({ said }) => said).join('; '))
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      /** Every input, and not only what CI has time for. */
      all: { type: 'boolean', default: false },
      /** Those whose names begin so. */
      only: { type: 'string', default: '' },
      runtime: { type: 'string', default: 'runc' },
    },
  })
  const checks = new Checks()
  const fleet = await SandboxFleet.start({ runtime: values.runtime, hosts: 1 })
  try {
    await proveHostile(fleet, checks, values)
  } finally {
    await fleet.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
