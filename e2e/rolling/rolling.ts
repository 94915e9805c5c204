import { OpenAI } from 'openai'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Stack } from '../../dev/stack.ts'
import { Checks } from '../load/checks.ts'
import { countedFetch } from '../load/counted-fetch.ts'
import { FileLoad, percentileMs } from '../load/file-load.ts'
import { printTable } from '../load/print-table.ts'
import { startTemporaryStack } from '../temporary-stack.ts'

const NODES = { api: 2, worker: 2 }
const ROUNDS_MAX = 1_000
/** Steady load before the first restart and after the last. */
const STEADY_MS = 1_000

interface Phase {
  readonly name: string
  readonly restarts: number
  readonly rounds: number
  readonly load: FileLoad
  readonly sent: ReturnType<typeof countedFetch>
  readonly held: Awaited<ReturnType<FileLoad['check']>>
}

interface PhaseOptions {
  readonly name: string
  readonly seconds: number
  readonly requestsPerSecond: number
  /** Undefined leaves the SDK as it comes: two retries. */
  readonly maxRetries?: number
}

/** Restarts every node in turn, round after round, under a steady load. */
async function runPhase(stack: Stack, options: PhaseOptions): Promise<Phase> {
  const sent = countedFetch()
  const client = new OpenAI({
    baseURL: `http://127.0.0.1:${stack.httpPort}/v1`,
    apiKey: stack.seeded.projectKey,
    fetch: sent.fetch,
    ...(options.maxRetries !== undefined && { maxRetries: options.maxRetries }),
  })
  const load = new FileLoad({
    client,
    requestsPerSecond: options.requestsPerSecond,
    prefix: options.name.replaceAll(' ', '-'),
  })
  const stopping = new AbortController()
  const loading = load.run(stopping.signal)
  const deadline = performance.now() + options.seconds * 1_000
  let rounds = 0
  let restarts = 0
  try {
    await delay(STEADY_MS)
    do {
      for (const node of stack.nodes) {
        await node.process.restart()
        await node.waitReady()
        restarts += 1
      }
      rounds += 1
    } while (performance.now() < deadline && rounds < ROUNDS_MAX)
    await delay(STEADY_MS)
  } finally {
    stopping.abort()
    await loading
  }
  return { name: options.name, restarts, rounds, load, sent, held: await load.check() }
}

function printPhases(phases: readonly Phase[]): void {
  printTable([
    ['', ...phases.map(({ name }) => name)],
    ['rounds over all nodes', ...phases.map(({ rounds }) => rounds)],
    ['restarts of a node', ...phases.map(({ restarts }) => restarts)],
    ['requests', ...phases.map(({ load }) => load.requests)],
    ['failed requests', ...phases.map(({ load }) => load.failed)],
    ['retries by the SDK', ...phases.map(({ sent }) => sent.retries)],
    ['attempts without an answer', ...phases.map(({ sent }) => sent.unanswered)],
    ['answers of 500 or more', ...phases.map(({ sent }) => sent.serverErrors)],
    ['p50 ms', ...phases.map(({ load }) => percentileMs(load.latenciesMs, 0.5))],
    ['p99 ms', ...phases.map(({ load }) => percentileMs(load.latenciesMs, 0.99))],
    ['slowest ms', ...phases.map(({ load }) => percentileMs(load.latenciesMs, 1))],
    ['files made', ...phases.map(({ held }) => held.made)],
    ['files missing', ...phases.map(({ held }) => held.missing)],
    ['files there twice', ...phases.map(({ held }) => held.twice)],
    ['deleted files still there', ...phases.map(({ held }) => held.undead)],
  ])
  for (const { name, load } of phases) {
    for (const { action, afterMs, error } of load.failures) console.log(`${name}: ${action} at ${afterMs} ms: ${error}`)
  }
}

function expectKept(checks: Checks, { name, held }: Phase): void {
  const detail = `${held.made} made, ${held.missing} missing, ${held.twice} twice`
  checks.expect(`${name}: every file made is there, once`, held.missing === 0 && held.twice === 0, detail)
  checks.expect(`${name}: deleted files stay deleted`, held.undead === 0)
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '60' }, rate: { type: 'string', default: '50' } },
  })
  const size = { seconds: Number(values.seconds), requestsPerSecond: Number(values.rate) }
  const ends: string[] = []
  const stack = await startTemporaryStack({
    nodes: NODES,
    onProgress: (line) => {
      if (/^(?:api|worker) \d+: ended/.test(line)) ends.push(line)
    },
  })
  const checks = new Checks()
  try {
    const retried = await runPhase(stack, { name: 'default retries', ...size })
    const unretried = await runPhase(stack, { name: 'no retries', ...size, maxRetries: 0 })
    printPhases([retried, unretried])
    checks.expect(
      'with the default retries no request fails',
      retried.load.failed === 0,
      `${retried.load.requests} sent`,
    )
    for (const phase of [retried, unretried]) expectKept(checks, phase)
    const unclean = ends.filter((line) => !line.endsWith('(exit code 0)'))
    checks.expect('every node ended by itself when asked to', unclean.length === 0, unclean.join('; '))
  } finally {
    await stack.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
