/**
 * No event lost, none sent elsewhere: events to 60 endpoints (30 healthy, 10 that hang, 10 that answer 500, 5 that
 * redirect, 5 that reset the connection), while workers, Restate, the api and the committing process are killed with -9
 * in turn and Valkey is wiped. Afterwards what arrived is compared with what was committed, per endpoint.
 *
 *   node e2e/webhooks/deliver-all.ts --events 600 --kills 1
 *   node e2e/webhooks/deliver-all.ts --events 100000 --kills 5               each endpoint takes one of ten types
 *   node e2e/webhooks/deliver-all.ts --events 100000 --kills 5 --everyone    each endpoint takes every event
 */
import pg from 'pg'
import { parseArgs } from 'node:util'
import type { WebhookEventType } from '@switchyard/contracts/webhook-events.ts'
import { sleep } from '#platform/std/clock.ts'
import type { Stack } from '../../dev/stack.ts'
import { recordCounts } from '../../tools/testing/record-counts.ts'
import { printTable } from '../load/print-table.ts'
import { startTemporaryStack } from '../temporary-stack.ts'
import { createEndpoints, type Endpoint, type Wanted } from './endpoints.ts'
import { harmOnce, type Victim } from './harm.ts'
import { PublisherProcess } from './publisher.ts'
import { SinkProcess, type Behaviour, type PathReport, type SinkReport } from './sink.ts'

const sizes: Readonly<Record<Behaviour, number>> = { ok: 30, hang: 10, error: 10, redirect: 5, reset: 5 }
const types: readonly WebhookEventType[] = [
  'response.completed',
  'response.failed',
  'response.cancelled',
  'response.incomplete',
  'batch.completed',
  'batch.failed',
  'batch.cancelled',
  'batch.expired',
  'eval.run.succeeded',
  'eval.run.failed',
]
const quickEventsMax = 2_000
const quickSeconds = 15
const perTransaction = 20
const deliveredBoundMs = 3_600_000
const pollMs = 500
const toldEveryMs = 10_000

interface Run {
  readonly stack: Stack
  readonly sink: SinkProcess
  readonly db: pg.Pool
  readonly endpoints: readonly Endpoint[]
  readonly events: number
}

function wanted(everyone: boolean): Wanted[] {
  return Object.entries(sizes).flatMap(([behaviour, count]) =>
    Array.from({ length: count }, (_none, index) => ({
      behaviour: behaviour as Behaviour,
      name: String(index + 1),
      types: everyone ? types : types.slice(index % types.length, (index % types.length) + 1),
    })),
  )
}

/** Publishes every event once, going on where the database says it stopped when its process is killed. */
class Publishing implements Victim {
  readonly #run: Run
  #process: PublisherProcess | null = null
  done = false

  constructor(run: Run) {
    this.#run = run
  }

  async start(): Promise<void> {
    const { stack, db, events } = this.#run
    const child = new PublisherProcess(stack)
    this.#process = child
    await child.start()
    const { rows } = await db.query<{ next: number }>('select count(*)::int as next from webhooks.event')
    const perSecond = events <= quickEventsMax ? events / quickSeconds : 0
    const common = { projectId: stack.seeded.projectId, types, perTransaction, concurrency: 1, perSecond }
    child.publish({ ...common, from: rows[0]?.next ?? 0, to: events }).then(
      () => (this.done = true),
      () => undefined,
    )
  }

  async kill9(): Promise<void> {
    await this.#process?.kill9()
  }

  async end(): Promise<void> {
    await this.#process?.stop()
  }
}

async function untilDelivered({ db, sink, endpoints }: Run, publishing: Publishing): Promise<boolean> {
  const healthy = endpoints.filter(({ behaviour }) => behaviour === 'ok').map(({ id }) => id)
  const began = performance.now()
  let toldAt = began
  while (performance.now() - began < deliveredBoundMs) {
    await sleep(pollMs)
    if (performance.now() - toldAt > toldEveryMs) {
      toldAt = performance.now()
      const { requests } = await sink.counts()
      console.log(`  ${Math.round((toldAt - began) / 1_000)} s: ${requests} requests arrived`)
    }
    if (!publishing.done) continue
    const { rows } = await db.query<{ left: boolean }>(
      'select exists (select 1 from webhooks.due where endpoint_id = any($1)) as left',
      [healthy],
    )
    if (rows[0]?.left === false) return true
  }
  return false
}

interface Committed {
  readonly webhookId: string
  readonly type: WebhookEventType
}

async function readCommitted(db: pg.Pool): Promise<Map<number, Committed>> {
  const { rows } = await db.query<{ n: number; id: string; type: WebhookEventType }>(
    `select (body::json->'data'->>'n')::int as n, id, type from webhooks.event where body like '%"n":%'`,
  )
  return new Map(rows.map(({ n, id, type }) => [n, { webhookId: id.replace('evt_', 'wh_'), type }]))
}

interface Line {
  readonly endpoint: Endpoint
  readonly due: number
  readonly arrived: number
  readonly missing: number
  readonly again: number
  readonly unasked: number
  readonly requests: number
  readonly unsigned: number
  readonly otherId: number
}

function lineOf(endpoint: Endpoint, path: PathReport, committed: ReadonlyMap<number, Committed>): Line {
  let due = 0
  let arrived = 0
  let unasked = 0
  for (const [number, times] of path.times.entries()) {
    const event = committed.get(number)
    const isDue = event !== undefined && endpoint.types.includes(event.type)
    if (isDue) due += 1
    if (isDue && times > 0) arrived += 1
    if (!isDue && times > 0) unasked += 1
  }
  const { requests, unsigned, otherId } = path
  return {
    endpoint,
    due,
    arrived,
    missing: due - arrived,
    again: requests - arrived - unasked,
    unasked,
    requests,
    unsigned,
    otherId,
  }
}

function printLines(lines: readonly Line[]): void {
  printTable([
    ['endpoint', 'due', 'arrived', 'missing', 'again', 'not asked for', 'requests', 'unsigned', 'other id'],
    ...lines.map((line) => [
      line.endpoint.path,
      line.due,
      line.arrived,
      line.missing,
      line.again,
      line.unasked,
      line.requests,
      line.unsigned,
      line.otherId,
    ]),
  ])
}

async function judge(run: Run, report: SinkReport, expect: (promise: string, holds: boolean, detail: string) => void) {
  const committed = await readCommitted(run.db)
  const lines = run.endpoints.map((endpoint) => lineOf(endpoint, report.paths[endpoint.path] as PathReport, committed))
  printLines(lines)
  const sum = (of: (line: Line) => number) => lines.reduce((total, line) => total + of(line), 0)
  const healthy = lines.filter(({ endpoint }) => endpoint.behaviour === 'ok')
  const healthySum = (of: (line: Line) => number) => healthy.reduce((total, line) => total + of(line), 0)
  const foreign = report.webhookIds.filter((id, n) => id !== undefined && committed.get(n)?.webhookId !== id).length
  const { rows } = await run.db.query<{ delivered: number }>(
    `select count(distinct (event_id, endpoint_id))::int as delivered from webhooks.attempt where ended = 'delivered'`,
  )
  expect('every event was committed once', committed.size === run.events, `${committed.size} events`)
  expect(
    'every healthy endpoint got every event it is due',
    healthySum((line) => line.missing) === 0,
    `${healthySum((line) => line.arrived)} of ${healthySum((line) => line.due)}`,
  )
  expect(
    'the log says delivered for each of them',
    rows[0]?.delivered === healthySum((line) => line.due),
    `${rows[0]?.delivered}`,
  )
  expect('nobody got an event not asked for', sum((line) => line.unasked) === 0, `${sum((line) => line.unasked)}`)
  expect(
    'what came again had the same webhook-id, that of its event',
    sum((line) => line.otherId) + foreign === 0,
    `${healthySum((line) => line.again)} came again at healthy endpoints`,
  )
  expect('nothing was unsigned', sum((line) => line.unsigned) === 0, `${sum((line) => line.requests)} verified`)
  expect('nothing went to a redirect target', report.strays.length === 0, report.strays.slice(0, 3).join(' '))
  const tried = lines.filter((line) => line.endpoint.behaviour !== 'ok').every((line) => line.requests > 0)
  expect('every bad endpoint was tried', tried, '')
}

async function deliver(run: Run, rounds: number): Promise<void> {
  const publishing = new Publishing(run)
  const began = performance.now()
  await publishing.start()
  let over = false
  const harming = (async () => {
    const gapMs = run.events <= quickEventsMax ? 500 : 4_000
    for (let round = 1; round <= rounds && !over; round += 1) {
      const harms = await harmOnce({ stack: run.stack, publisher: publishing, gapMs, awayMs: 500 })
      const { requests } = await run.sink.counts()
      console.log(`  round ${round}: ${harms.join(', ')}; ${requests} requests arrived so far`)
    }
  })()
  const delivered = await untilDelivered(run, publishing)
  over = true
  await harming
  if (!delivered) console.log(`  not everything was delivered within ${deliveredBoundMs / 1_000} s`)
  const seconds = (performance.now() - began) / 1_000
  const { requests } = await run.sink.counts()
  console.log(`${requests} requests in ${seconds.toFixed(1)} s, ${Math.round(requests / seconds)}/s`)
  await publishing.end()
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      events: { type: 'string', default: '600' },
      kills: { type: 'string', default: '0' },
      everyone: { type: 'boolean', default: false },
    },
  })
  const events = Number(values.events)
  const counts = { passed: 0, failed: 0 }
  const stack = await startTemporaryStack({ nodes: { api: 1, worker: 2 }, settings: { SWITCHYARD_LOG_LEVEL: 'warn' } })
  const sink = new SinkProcess()
  const db = new pg.Pool({ connectionString: stack.env['SWITCHYARD_POSTGRES_URL'] ?? '', max: 2 })
  try {
    await sink.listen(events)
    const endpoints = await createEndpoints(stack, sink, wanted(values.everyone))
    const run = { stack, sink, db, endpoints, events }
    console.log(`${events} events, ${endpoints.length} endpoints, ${values.kills} rounds of kills`)
    await deliver(run, Number(values.kills))
    await judge(run, await sink.ask<SinkReport>({ kind: 'report' }), (promise, holds, detail) => {
      counts[holds ? 'passed' : 'failed'] += 1
      console.log(`${holds ? 'ok  ' : 'FAIL'} ${promise}${detail === '' ? '' : ` (${detail})`}`)
    })
  } finally {
    await db.end()
    await sink.end()
    await stack.stop()
  }
  recordCounts('webhooks', counts)
  return counts.failed === 0 ? 0 : 1
}

if (import.meta.main) process.exitCode = await main()
