/**
 * The official SDK's own backoff against our 429: so many clients that never stop sending, over a limit of requests a
 * minute, for so long; then they stop, and all drain. No error is left, nobody comes in herds, and the limit is used.
 *
 * The SDK retries twice by default. Twice is not always enough here, whatever slots we tell: every 429 takes from the
 * limit as well, and a request that comes at its slot cannot be told from one that just comes. Few need a third try, so
 * clients have five; how many needed more than two is printed.
 *
 *   node e2e/limits/backoff.load.ts --clients 200 --seconds 120
 */
import { parseArgs } from 'node:util'
import { OpenAI } from 'openai'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { Checks } from '../load/checks.ts'
import { LimitedFleet } from './limited-fleet.ts'
import { readDecisions, type Decided } from './replay-decisions.ts'

interface Sizes {
  readonly clients: number
  readonly seconds: number
  readonly requestsPerMinute: number
}

const maxRetries = 5
const defaultRetries = 2
/** No limit of tokens binds here. */
const tokensPerMinute = 100_000_000
/** Arrivals in any second after the first burst, as a multiple of what the limit gives in a second. */
const peakShareMax = 4
/** Of what the limit gives once the first burst is through, how much is admitted. */
const usedShareMin = 0.6
const settleSeconds = 2
const reachedBoundMs = 120_000
const barWidth = 60
const logBoundMs = 5_000

interface Sent {
  answered: number
  failed: number
  readonly errors: string[]
  /** Requests by the number of tries that they took. */
  readonly tries: number[]
}

/** The SDK as it is; its retry count is read from the requests that it sends. */
function countTries(tries: number[], onRefused: () => void): typeof globalThis.fetch {
  return async (input, init) => {
    const reply = await globalThis.fetch(input, init)
    if (reply.status === 429) onRefused()
    const count = Number(new Headers(init?.headers).get('x-stainless-retry-count') ?? 0)
    if (reply.ok) tries[count] = (tries[count] ?? 0) + 1
    return reply
  }
}

async function sendAll(limited: LimitedFleet, key: string, { clients, seconds }: Sizes): Promise<Sent> {
  const sent: Sent = { answered: 0, failed: 0, errors: [], tries: [] }
  // So long over the limit: until it is reached, nobody is refused.
  let until = performance.now() + reachedBoundMs
  let isReached = false
  const fetch = countTries(sent.tries, () => {
    if (!isReached) until = performance.now() + seconds * 1_000
    isReached = true
  })
  const baseURL = `http://127.0.0.1:${limited.fleet.portOf()}/v1`
  await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new OpenAI({ baseURL, apiKey: key, maxRetries, fetch })
      while (performance.now() < until) {
        try {
          await client.responses.create({ model: 'double-chat', input: 'Say it.', store: false })
          sent.answered += 1
        } catch (error) {
          sent.failed += 1
          if (sent.errors.length < 5) sent.errors.push(String(error))
        }
      }
    }),
  )
  return sent
}

/** Arrivals by the second, from the first on, by Valkey's clock. */
function arrivalsBySecond(log: readonly Decided[]): { all: number[]; admitted: number[]; refusedFrom: number } {
  const decided = log.filter(({ kind, micros }) => micros !== null && (kind === 'admitted' || kind === 'refused'))
  const first = decided[0]?.micros ?? 0
  const second = ({ micros }: Decided) => Math.floor(((micros ?? 0) - first) / 1_000_000)
  const length = 1 + Math.max(0, ...decided.map(second))
  const count = (of: readonly Decided[]) => {
    const counts = Array.from({ length }, () => 0)
    for (const one of of) counts[second(one)] = (counts[second(one)] ?? 0) + 1
    return counts
  }
  const refused = decided.find(({ kind }) => kind === 'refused')
  const refusedFrom = refused === undefined ? length : second(refused)
  return { all: count(decided), admitted: count(decided.filter(({ kind }) => kind === 'admitted')), refusedFrom }
}

function printHistogram({ all, admitted }: { all: readonly number[]; admitted: readonly number[] }): void {
  const most = Math.max(...all)
  console.log('  second  arrivals (# admitted, . refused)')
  for (const [second, count] of all.entries()) {
    const letIn = Math.round(((admitted[second] ?? 0) / most) * barWidth)
    const bar = '#'.repeat(letIn).padEnd(Math.round((count / most) * barWidth), '.')
    console.log(`  ${String(second).padStart(6)}  ${String(count).padStart(5)}  ${bar}`)
  }
}

export async function proveBackoff(checks: Checks, sizes: Sizes): Promise<void> {
  const limited = await LimitedFleet.start({ ...sizes, tokensPerMinute, nodes: 1, settlesTokens: false })
  try {
    const { orgId, key } = await limited.newOrganization()
    const sent = await sendAll(limited, key, sizes)
    await becomesLogged(limited, orgId, sent.answered)
    const arrivals = arrivalsBySecond(await readDecisions(limited.fleet.db, orgId))
    printHistogram(arrivals)
    checkArrivals(checks, sizes, sent, arrivals)
  } finally {
    await limited.stop()
  }
}

/** The log is written a moment later. */
async function becomesLogged(limited: LimitedFleet, orgId: string, answered: number): Promise<void> {
  const isLogged = async () => {
    const log = await readDecisions(limited.fleet.db, orgId)
    return log.filter(({ kind }) => kind === 'admitted').length >= answered
  }
  await becomesTrue(isLogged, logBoundMs)
}

function checkArrivals(
  checks: Checks,
  { clients, seconds, requestsPerMinute }: Sizes,
  { answered, failed, errors, tries }: Sent,
  { all, admitted, refusedFrom }: ReturnType<typeof arrivalsBySecond>,
): void {
  const perSecond = requestsPerMinute / 60
  const more = tries.slice(defaultRetries + 1).reduce((sum, count) => sum + (count ?? 0), 0)
  checks.expect(
    `S3-7.2-b: ${clients} clients are over the limit for ${seconds} s and drain without an error left`,
    failed === 0 && answered > requestsPerMinute,
    failed === 0
      ? `${answered} answered, ${more} of them after more than two retries`
      : `${failed}: ${errors.join('; ')}`,
  )
  // Everyone who was there is refused at once when the limit is reached; from the next seconds on they come in their turn.
  const after = all.slice(refusedFrom + settleSeconds)
  const peak = Math.max(0, ...after)
  checks.expect(
    'no herd: after the first burst arrivals stay near what the limit gives',
    peak <= peakShareMax * perSecond,
    `at most ${peak} in a second, ${perSecond} are given; first burst ${Math.max(...all)}`,
  )
  const over = admitted.slice(refusedFrom + 1, refusedFrom + seconds)
  const used = over.reduce((sum, count) => sum + count, 0) / Math.max(1, over.length * perSecond)
  checks.expect(
    'the limit is used, though every refusal takes from it as well',
    used >= usedShareMin,
    `${(used * 100).toFixed(0)} % over ${over.length} s`,
  )
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      clients: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '120' },
      limit: { type: 'string', default: '1200' },
    },
  })
  const checks = new Checks()
  await proveBackoff(checks, {
    clients: Number(values.clients),
    seconds: Number(values.seconds),
    requestsPerMinute: Number(values.limit),
  })
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
