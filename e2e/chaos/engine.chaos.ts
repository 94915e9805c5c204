/**
 * Nothing lost, engine: pieces of work of three chained steps, each writing one fenced row, while worker, Restate, api
 * and PostgreSQL are killed with -9 in turn; then with Restate's disk deleted; then with a worker frozen for longer than
 * every lease; then with the handler's code changed under 200 running steps. Every piece ends, every step's row is there
 * once, no process of ours ends by itself, and what relay and sweep re-sent is printed.
 *
 *   node e2e/chaos/engine.chaos.ts --pieces 2000 --rounds 10
 */
import { parseArgs } from 'node:util'
import type { CountName } from '#platform/durable/counts.ts'
import { auditPieces, chainState, countUnderWay, stepsPerPiece } from '#platform/durable/testing/chain.ts'
import { sleep } from '#platform/std/clock.ts'
import { recordCounts } from '../../tools/testing/record-counts.ts'
import { ChainFleet } from './chain-fleet.ts'
import type { Told } from './chain-fleet.ts'
import { seededRandom } from './seeded-random.ts'

const victims = ['worker', 'restate', 'api', 'postgres'] as const
/** Between one kill and the next, and how long a victim stays away. */
const gapMs = { least: 500, most: 1_500 }
const awayMs = { least: 100, most: 1_500 }
/** The time after which a piece that does not move is taken to be lost must be above the longest queue. */
const paces = {
  full: { stalledMs: 15_000, frozenMs: 20_000, slowStepMs: 10_000 },
  quick: { stalledMs: 5_000, frozenMs: 12_000, slowStepMs: 4_000 },
}
const quickPiecesMax = 500
const runningMax = 200
const phaseBoundMs = 600_000
const pollMs = 200
const shownCounts: CountName[] = [
  'sentAtCommit',
  'relayed',
  'swept',
  'stepsDone',
  'stepsOver',
  'stepsFailed',
  'registered',
]

interface Phase {
  readonly name: string
  readonly pieces: number
  /** Runs while the pieces are submitted and worked on. */
  readonly harm: (fleet: ChainFleet) => Promise<void>
  readonly everyMs: number
}

type Line = Record<string, string | number>

const between = (random: () => number, { least, most }: { least: number; most: number }) =>
  least + random() * (most - least)

async function killInTurn(fleet: ChainFleet, rounds: number, random: () => number): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    for (const victim of victims) {
      await sleep(between(random, gapMs))
      await killOne(fleet, victim, random)
    }
    const { ended, rows } = await chainState(fleet.db)
    console.log(`  round ${round} of ${rounds}: ${ended} pieces ended, ${rows} rows`)
  }
}

async function killOne(fleet: ChainFleet, victim: (typeof victims)[number], random: () => number): Promise<void> {
  if (victim === 'restate' || victim === 'postgres') {
    await fleet[victim].kill9()
    await sleep(between(random, awayMs))
    await fleet[victim].restart()
    return
  }
  const name = victim === 'api' ? 'api' : random() < 0.5 ? 'worker-1' : 'worker-2'
  await fleet.kill9(name)
  await sleep(between(random, awayMs))
  await fleet.start(name)
}

async function deleteDisk(fleet: ChainFleet, pieces: number): Promise<void> {
  await reach(fleet, (done) => done >= pieces)
  await fleet.restate.wipe()
  await fleet.restate.restart()
}

/** Longer than the sweep's lease (6 s), the engine's patience with a silent worker (9 s) and the stall bound. */
async function freezeWorker(fleet: ChainFleet, pieces: number, frozenMs: number): Promise<void> {
  await reach(fleet, (done) => done >= pieces)
  fleet.child('worker-1').freeze()
  await sleep(frozenMs)
  fleet.child('worker-1').thaw()
}

async function changeCode(fleet: ChainFleet, running: number): Promise<void> {
  await until('the steps are running', async () => (await countUnderWay(fleet.db)) >= running)
  await Promise.all([fleet.end('worker-1'), fleet.end('worker-2')])
  await fleet.startWorkers({ code: 'v2', stepTimeoutMs: 45_000 })
}

/** Waits until so many steps of the phase have been written. */
async function reach(fleet: ChainFleet, enough: (rows: number) => boolean): Promise<void> {
  const { rows: before } = await chainState(fleet.db)
  await until('work is under way', async () => enough((await chainState(fleet.db)).rows - before))
}

async function runPhase(fleet: ChainFleet, phase: Phase, firstPiece: number): Promise<Line> {
  console.log(`${phase.name}: ${phase.pieces} pieces`)
  const begunMs = performance.now()
  const before = Object.fromEntries(shownCounts.map((name) => [name, fleet.count(name)]))
  const range = { from: firstPiece, to: firstPiece + phase.pieces - 1, everyMs: phase.everyMs }
  await fleet.start('api', { pieces: range })
  await phase.harm(fleet)
  await until('everything is submitted', async () => fleet.child('api').submitted)
  await fleet.end('api')
  const expected = range.to
  const ended = await until('every piece ended', async () => (await chainState(fleet.db)).ended >= expected, false)
  if (!ended) await explainStall(fleet)
  const state = await auditPieces(fleet.db, range)
  const counts = Object.fromEntries(shownCounts.map((name) => [name, fleet.count(name) - (before[name] ?? 0)]))
  const seconds = Math.round((performance.now() - begunMs) / 1_000)
  const good =
    state.ended === phase.pieces && state.rows === stepsPerPiece * phase.pieces && state.doubled === 0 ? 'ok' : 'FAILED'
  return { phase: phase.name, pieces: phase.pieces, ...state, ...counts, seconds, result: good }
}

/** Where the engine has what did not end; for whoever has to find out why. */
async function explainStall(fleet: ChainFleet): Promise<void> {
  const reply = await fetch(`${fleet.restate.adminUrl}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: 'select status, count(*) as invocations from sys_invocation group by status' }),
  })
  console.log('  not ended in time; the engine has', await reply.text())
}

async function until(what: string, condition: () => Promise<boolean>, must = true): Promise<boolean> {
  const deadline = performance.now() + phaseBoundMs
  while (performance.now() < deadline) {
    try {
      if (await condition()) return true
    } catch {
      // PostgreSQL may be on its way back from the last kill.
    }
    await sleep(pollMs)
  }
  if (must) throw new Error(`not in time: ${what}`)
  return false
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      pieces: { type: 'string', default: '2000' },
      rounds: { type: 'string', default: '10' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  })
  const pieces = Number(values.pieces)
  const rounds = Number(values.rounds)
  const running = Math.min(runningMax, pieces)
  const random = seededRandom(Number(values.seed))
  const pace = pieces <= quickPiecesMax ? paces.quick : paces.full
  console.log(`seed ${values.seed}, ${pieces} pieces a phase, ${rounds} rounds of kills`)
  // About as long as the kills take, so that all of them meet work.
  const spreadMs = rounds * victims.length * 3_000
  const phases: (Phase & { workers: Told })[] = [
    {
      name: `killed -9 in turn, ${rounds} rounds`,
      pieces,
      workers: {},
      everyMs: (4 * spreadMs) / pieces,
      harm: (fleet) => killInTurn(fleet, rounds, random),
    },
    { name: 'disk of Restate deleted', pieces, workers: {}, everyMs: 0, harm: (fleet) => deleteDisk(fleet, pieces) },
    {
      name: `worker frozen for ${pace.frozenMs / 1_000} s`,
      pieces,
      workers: {},
      everyMs: 0,
      harm: (fleet) => freezeWorker(fleet, pieces, pace.frozenMs),
    },
    {
      name: `code changed under ${running} running`,
      pieces: running,
      workers: { workMs: pace.slowStepMs, stepsMax: running, drainMs: 500 },
      everyMs: 0,
      harm: (fleet) => changeCode(fleet, running),
    },
  ]
  const fleet = await ChainFleet.start(pace.stalledMs)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void fleet.stop().finally(() => process.exit(1)))
  }
  const lines: Line[] = []
  try {
    let next = 1
    for (const phase of phases) {
      await Promise.all([fleet.end('worker-1'), fleet.end('worker-2')])
      await fleet.startWorkers(phase.workers)
      lines.push(await runPhase(fleet, phase, next))
      next += phase.pieces
    }
  } finally {
    await fleet.stop()
  }
  console.table(lines)
  console.log(`processes that ended by themselves: ${fleet.crashes}`)
  const passed = lines.filter(({ result }) => result === 'ok').length + (fleet.crashes === 0 ? 1 : 0)
  const failed = phases.length + 1 - passed
  recordCounts('engine', { passed, failed })
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
