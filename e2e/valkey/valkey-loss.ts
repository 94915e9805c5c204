import { OpenAI } from 'openai'
import { Redis } from 'iovalkey'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { signalProcess } from '../../dev/processes.ts'
import type { Stack } from '../../dev/stack.ts'
import { Checks } from '../load/checks.ts'
import { countedFetch } from '../load/counted-fetch.ts'
import { FileLoad, percentileMs } from '../load/file-load.ts'
import { printTable } from '../load/print-table.ts'
import { startTemporaryStack } from '../temporary-stack.ts'
import { ReadinessWatch } from './readiness-watch.ts'

const NODES = { api: 1, worker: 1 }
/** How long after its return Valkey may still be called degraded. */
const RECOVERY_BOUND_MS = 10_000
/** How long after its loss it may still be called well. */
const NOTICE_BOUND_MS = 5_000

interface Losing {
  readonly stack: Stack
  readonly watch: ReadinessWatch
  readonly checks: Checks
  readonly awayMs: number
}

/** Takes Valkey away for a while and gives it back; readiness must say so, stay ready, and recover. */
async function lose(
  { watch, checks, awayMs }: Losing,
  how: string,
  away: () => Promise<void> | void,
  back: () => Promise<void> | void,
): Promise<void> {
  const began = performance.now()
  await away()
  const noticed = await becomesTrue(() => watch.allDegraded, NOTICE_BOUND_MS)
  checks.expect(`${how}: every node says that it is degraded`, noticed, `after ${sinceMs(began)} ms`)
  await delay(Math.max(0, awayMs - (performance.now() - began)))
  const returned = performance.now()
  await back()
  const recovered = await becomesTrue(() => watch.allWell, RECOVERY_BOUND_MS)
  checks.expect(`${how}: every node recovers without a restart`, recovered, `${sinceMs(returned)} ms after its return`)
}

const sinceMs = (began: number) => Math.round(performance.now() - began)

async function flushAll(url: string): Promise<void> {
  const client = new Redis(url)
  try {
    await client.flushall()
  } finally {
    client.disconnect()
  }
}

async function loseInEveryWay(losing: Losing, valkey: NonNullable<Stack['valkey']>): Promise<void> {
  const { watch, checks, awayMs } = losing
  await becomesTrue(() => watch.allWell, NOTICE_BOUND_MS)
  await flushAll(valkey.url)
  await delay(awayMs / 5)
  checks.expect('wiped: every node stays well', watch.allWell)
  await lose(
    losing,
    'frozen',
    () => signalProcess(valkey.pid, 'SIGSTOP'),
    () => signalProcess(valkey.pid, 'SIGCONT'),
  )
  await lose(
    losing,
    'killed',
    async () => await valkey.kill9(),
    async () => await valkey.restart(),
  )
}

async function underLoad(losing: Losing, requestsPerSecond: number, doing: () => Promise<void>): Promise<void> {
  const { stack, checks } = losing
  const sent = countedFetch()
  // Without retries: nothing that this API does needs Valkey, so no request may fail even once.
  const client = new OpenAI({
    baseURL: `http://127.0.0.1:${stack.httpPort}/v1`,
    apiKey: stack.seeded.projectKey,
    fetch: sent.fetch,
    maxRetries: 0,
  })
  const load = new FileLoad({ client, requestsPerSecond, prefix: 'valkey' })
  const stopping = new AbortController()
  const loading = load.run(stopping.signal)
  try {
    await doing()
  } finally {
    stopping.abort()
    await loading
  }
  printTable([
    ['requests', 'failed', 'answers of 500 or more', 'p50 ms', 'p99 ms', 'slowest ms'],
    [
      load.requests,
      load.failed,
      sent.serverErrors,
      ...[0.5, 0.99, 1].map((share) => percentileMs(load.latenciesMs, share)),
    ],
  ])
  for (const { action, afterMs, error } of load.failures) console.log(`${action} at ${afterMs} ms: ${error}`)
  checks.expect('no answer is 500 or more', sent.serverErrors === 0, `${load.requests} requests`)
  checks.expect('no request fails, without any retry', load.failed === 0)
  const held = await load.check()
  checks.expect('every file made is there, once', held.missing === 0 && held.twice === 0, `${held.made} made`)
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '10' }, rate: { type: 'string', default: '50' } },
  })
  const stack = await startTemporaryStack({ nodes: NODES })
  const checks = new Checks()
  const watch = new ReadinessWatch(stack.nodes.map((node) => node.internalUrl))
  try {
    const { valkey } = stack
    if (valkey === null) throw new Error('this program takes a Valkey of its own away')
    const losing = { stack, watch, checks, awayMs: Number(values.seconds) * 1_000 }
    const pids = stack.nodes.map((node) => node.process.pid)
    await underLoad(losing, Number(values.rate), async () => await loseInEveryWay(losing, valkey))
    checks.expect('readiness was 200 all the time', watch.notReady === 0, `${watch.asked} times asked`)
    const same = stack.nodes.every((node, index) => node.process.running && node.process.pid === pids[index])
    checks.expect('no node was restarted', same)
  } finally {
    await watch.stop()
    await stack.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
