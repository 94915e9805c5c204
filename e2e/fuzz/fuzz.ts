import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../../dev/engines/free-port.ts'
import type { ServerNode } from '../../dev/server-node.ts'
import type { Stack } from '../../dev/stack.ts'
import { Checks } from '../load/checks.ts'
import { doubleModels, writeDoubleModels } from '../../server/test/double-models.ts'
import { startProviderDouble } from '../../server/test/provider-double.ts'
import { startTemporaryStack } from '../temporary-stack.ts'
import { readOperations } from './api.ts'
import { planBroken } from './broken-http.ts'
import { Chance } from './chance.ts'
import { addMembers, ReadyUploads } from './feed.ts'
import { judge, promises } from './judge.ts'
import { KnownIds } from './known-ids.ts'
import { Line, type Outcome } from './line.ts'
import { planRequest, type PlanUse } from './plan-request.ts'
import { reproduction, type Plan } from './plan.ts'
import { prepareKeys } from './run-keys.ts'
import { residentBytes, settledMemory } from './server-memory.ts'
import { Tally } from './tally.ts'

const requestsDefault = 100_000
const linesAtOnce = 12
const shareBroken = 0.04
/** What a fresh process allocates for good while it meets everything for the first time. */
const warmUpShare = 0.1
const warmUpMax = 5_000
const growthBytesMax = 100 * 1024 * 1024
const failuresMax = 200
const progressEvery = 10_000
const feedEvery = 100

const mb = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`

interface Run {
  readonly port: number
  readonly seed: number
  readonly tally: Tally
  readonly use: PlanUse
  readonly plan: (chance: Chance) => Plan
}

const learntBytesMax = 4_000

function learn(ids: KnownIds, outcome: Outcome): void {
  if (outcome.kind !== 'reply') return
  for (const { status, body } of outcome.replies)
    if (status === 200) ids.learn(body.toString('latin1', 0, learntBytesMax))
}

/** Sends the requests of these numbers, several at a time. Gives up when the server has clearly lost its way. */
async function sendAll(run: Run, from: number, to: number): Promise<void> {
  let next = from
  const lane = async () => {
    const line = new Line(run.port)
    while (next < to && run.tally.failures < failuresMax) {
      const turn = next
      next += 1
      const plan = run.plan(new Chance(run.seed, turn))
      const outcome = await line.send(plan)
      run.tally.count(plan.operation, outcome)
      run.tally.complain(judge(plan, outcome), () => `request ${turn}: ${reproduction(plan, run.port)}`)
      learn(run.use.ids, outcome)
      if (turn > 0 && turn % progressEvery === 0) console.log(`${turn} requests`)
      if (turn % feedEvery === 0) await run.use.uploads.add()
    }
    line.close()
  }
  await Promise.all(Array.from({ length: linesAtOnce }, lane))
}

/** Everything a run needs before its first request. */
async function prepare(stack: Stack, seed: number): Promise<Run> {
  const { httpPort: port, seeded } = stack
  const operations = readOperations(new URL('../../openapi/public.json', import.meta.url))
  const baseUrl = `http://127.0.0.1:${port}`
  const { keys, projectId, protectedIds } = await prepareKeys(baseUrl, seeded)
  await addMembers({ postgresUrl: stack.env['SWITCHYARD_POSTGRES_URL'] ?? '', baseUrl, ...seeded })
  const uploads = new ReadyUploads(baseUrl, seeded.projectKey)
  const use: PlanUse = { keys, projectId, uploads, models: doubleModels, ids: new KnownIds(protectedIds, baseUrl) }
  const plan = (chance: Chance) =>
    chance.often(shareBroken) ? planBroken(chance, keys.project_key) : planRequest(chance.pick(operations), chance, use)
  return { port, seed, tally: new Tally(), use, plan }
}

interface Target {
  readonly stack: Stack
  readonly node: ServerNode
  readonly inspectorPort: number
}

/** Sends everything and says what became of it. */
async function fuzz(
  { stack, node, inspectorPort }: Target,
  requests: number,
  seed: number,
  checks: Checks,
): Promise<void> {
  const run = await prepare(stack, seed)
  const { pid } = node.process
  const warm = Math.min(Math.floor(requests * warmUpShare), warmUpMax)
  await sendAll(run, 0, warm)
  const before = await settledMemory(pid, inspectorPort)
  const began = performance.now()
  await sendAll(run, warm, requests)
  const seconds = (performance.now() - began) / 1_000
  const peak = residentBytes(pid)
  const after = await settledMemory(pid, inspectorPort)
  run.tally.print()
  const rate = Math.round((requests - warm) / seconds)
  console.log(`seed ${seed}: ${requests} requests, ${rate} a second over ${Math.round(seconds)} s`)
  const growth = after.residentBytes - before.residentBytes
  console.log(`resident memory: ${mb(before.residentBytes)} after ${warm} requests, ${mb(peak)} at the end`)
  console.log(
    `  ${mb(after.residentBytes)} after collection; of it heap ${mb(before.heapBytes)}, then ${mb(after.heapBytes)}`,
  )
  for (const promise of promises) {
    const times = run.tally.timesBroken(promise)
    checks.expect(promise, times === 0, times === 0 ? '' : `${times} times`)
  }
  checks.expect('memory grows by no more than 100 MB', growth <= growthBytesMax, mb(growth))
  const alive = node.process.running && node.process.pid === pid && (await isReady(node.internalUrl))
  checks.expect('the server is the same process as at the start, and ready', alive)
}

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { requests: { type: 'string' }, seed: { type: 'string' } } })
  const requests = Number(values.requests ?? requestsDefault)
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  console.log(`seed ${seed}, ${requests} requests, ${linesAtOnce} at a time`)
  // The inspector lets the run ask for a garbage collection, so that memory is measured rather than guessed.
  const inspectorPort = await freePort()
  const settings = { SWITCHYARD_LOG_LEVEL: 'warn', NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` }
  const double = await startProviderDouble()
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-fuzz-'))
  const models = { SWITCHYARD_MODELS: await writeDoubleModels(folder, double.url) }
  const stack = await startTemporaryStack({ nodes: { all: 1 }, settings: { ...settings, ...models } })
  const checks = new Checks()
  try {
    const [node] = stack.nodes
    if (node === undefined) throw new Error('no server runs')
    await fuzz({ stack, node, inspectorPort }, requests, seed, checks)
  } finally {
    await stack.stop()
    await double.close()
    await rm(folder, { recursive: true, force: true })
  }
  return checks.finish()
}

async function isReady(internalUrl: string): Promise<boolean> {
  const reply = await fetch(`${internalUrl}/readyz`)
  return reply.ok
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2))
