import pg from 'pg'
import { sleep } from '#platform/std/clock.ts'
import type { Stack } from '../dev/stack.ts'
import { Child } from '../e2e/webhooks/child.ts'
import { createEndpoints, type Endpoint } from '../e2e/webhooks/endpoints.ts'
import { PublisherProcess } from '../e2e/webhooks/publisher.ts'
import { SinkProcess } from '../e2e/webhooks/sink.ts'
import { median, type Figure } from './figure.ts'
import type { BareLoad } from './webhooks-bare.ts'
import type { WebhooksSize } from './webhooks.ts'

const endpointCount = 8
const concurrency = 128
/** With slow answers both sides wait for slots, not for the processor. */
const slowEndpointCount = 2
const slowConcurrency = 32
const slowAnswers = { perThousand: 10, ms: 3_000 }
const publishConcurrency = 32
const boundMs = 900_000
const pollMs = 20
/** The best published figure of a delivery service in TypeScript (Hookstream, 4 vCPU, 3 workers). */
const published = 1_812

interface Bed {
  readonly stack: Stack
  readonly sink: SinkProcess
  readonly endpoints: readonly Endpoint[]
  readonly db: pg.Pool
  readonly bare: Child
}

const workerSettings = { SWITCHYARD_WEBHOOKS_ENDPOINT_CONCURRENCY: '16', SWITCHYARD_WEBHOOKS_IN_FLIGHT_MAX: '128' }

export async function benchThroughput(
  stack: Stack,
  size: WebhooksSize,
  say: (line: string) => void,
): Promise<Figure[]> {
  const sink = new SinkProcess()
  const db = new pg.Pool({ connectionString: stack.env['SWITCHYARD_POSTGRES_URL'] ?? '', max: 1 })
  const bare = new Child(new URL('webhooks-bare.ts', import.meta.url))
  try {
    await sink.listen(size.deliveries, endpointCount)
    const types = (index: number) =>
      index < slowEndpointCount ? (['batch.completed', 'eval.run.failed'] as const) : (['batch.completed'] as const)
    const endpoints = await createEndpoints(
      stack,
      sink,
      Array.from({ length: endpointCount }, (_none, index) => ({
        behaviour: 'ok' as const,
        name: `t${index}`,
        types: types(index),
      })),
    )
    const bed = { stack, sink, endpoints, db, bare }
    await bareRate(bed, Math.min(size.deliveries, 20_000))
    return [await backlog(bed, size, say), await endToEnd(bed, size, say), await slow(bed, size, say)]
  } finally {
    await bare.end('SIGKILL')
    await db.end()
    await sink.end()
  }
}

async function bareRate({ sink, bare, endpoints }: Bed, deliveries: number, count = endpointCount): Promise<number> {
  const urls = endpoints.slice(0, count).map(({ path }, index) => sink.urlOf(path, index))
  const load: BareLoad = {
    urls,
    // The sink verifies what it gets, whoever sent it; the bare loop need not know the secrets to cost the same.
    secrets: urls.map(() => 'whsec_MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA='),
    deliveries,
    concurrency: count === endpointCount ? concurrency : slowConcurrency,
  }
  await sink.ask({ kind: 'forget' })
  await bare.ask<number>(load)
  const { firstAt, lastAt } = await sink.counts()
  await sink.ask({ kind: 'forget' })
  return (deliveries * 1_000) / (lastAt - firstAt)
}

async function untilArrived(sink: SinkProcess, deliveries: number): Promise<void> {
  const began = performance.now()
  while ((await sink.counts()).requests < deliveries) {
    if (performance.now() - began > boundMs) throw new Error('deliveries are missing')
    await sleep(pollMs)
  }
}

async function fresh({ db, sink }: Bed): Promise<void> {
  await db.query('truncate webhooks.due, webhooks.attempt, webhooks.event, webhooks.lease')
  await db.query('checkpoint')
  await sink.ask({ kind: 'forget' })
}

/** Already committed when the worker starts; measured from the first arrival to the last. */
async function backlogRate(bed: Bed, deliveries: number, type: 'batch.completed' | 'eval.run.failed'): Promise<number> {
  const { stack, sink } = bed
  await fresh(bed)
  const count = type === 'batch.completed' ? endpointCount : slowEndpointCount
  const worker = new PublisherProcess(stack, workerSettings, profiling())
  const publisher = new PublisherProcess(stack)
  try {
    await publisher.start()
    await publisher.publish({
      projectId: stack.seeded.projectId,
      types: [type],
      from: 0,
      to: deliveries / count,
      perTransaction: 500,
      concurrency: 2,
      perSecond: 0,
    })
    await publisher.stop()
    await worker.start(true)
    await untilArrived(sink, deliveries)
    const { firstAt, lastAt, requests } = await sink.counts()
    return (requests * 1_000) / (lastAt - firstAt)
  } finally {
    await worker.stop()
  }
}

/** `SWITCHYARD_DEV_PROFILE=folder` keeps a profile of each worker. */
const profiling = () => {
  const folder = process.env['SWITCHYARD_DEV_PROFILE'] ?? ''
  return folder === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}

async function pairs(
  rounds: number,
  ours: () => Promise<number>,
  bare: () => Promise<number>,
  tell: (line: string) => void,
): Promise<{ ratio: number; ours: number; bare: number }> {
  const seen: { ours: number; bare: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    // The twin before and after: what else the machine does meanwhile weighs on both.
    const before = await bare()
    const mine = await ours()
    const pair = { ours: mine, bare: (before + (await bare())) / 2 }
    seen.push(pair)
    tell(`${Math.round(pair.ours)}/s beside ${Math.round(pair.bare)}/s bare`)
  }
  return {
    ratio: median(seen.map((pair) => pair.ours / pair.bare)),
    ours: median(seen.map((pair) => pair.ours)),
    bare: median(seen.map((pair) => pair.bare)),
  }
}

async function backlog(bed: Bed, { rounds, deliveries }: WebhooksSize, say: (line: string) => void): Promise<Figure> {
  const found = await pairs(
    rounds,
    () => backlogRate(bed, deliveries, 'batch.completed'),
    () => bareRate(bed, deliveries / 2),
    (line) => say(`  backlog of ${deliveries}: ${line}`),
  )
  return {
    name: 'webhooks: backlog ÷ bare',
    ratio: found.ratio,
    target: { atLeast: 0.6 },
    measured: `${Math.round(found.ours)}/s, bare ${Math.round(found.bare)}/s (best published ${published}/s)`,
  }
}

/** One event a transaction, as modules commit them, each to eight endpoints. */
async function endToEndRate(bed: Bed, deliveries: number): Promise<number> {
  const { stack, sink } = bed
  await fresh(bed)
  const worker = new PublisherProcess(stack, workerSettings, profiling())
  const publisher = new PublisherProcess(stack)
  try {
    await worker.start(true)
    await publisher.start()
    const commits = await publisher.publish({
      projectId: stack.seeded.projectId,
      types: ['batch.completed'],
      from: 0,
      to: deliveries / endpointCount,
      perTransaction: 1,
      concurrency: publishConcurrency,
      perSecond: 0,
    })
    await untilArrived(sink, deliveries)
    const { lastAt } = await sink.counts()
    return (deliveries * 1_000) / (lastAt - Math.min(...commits.slice(0, publishConcurrency)))
  } finally {
    await publisher.stop()
    await worker.stop()
  }
}

async function endToEnd(bed: Bed, { rounds, deliveries }: WebhooksSize, say: (line: string) => void): Promise<Figure> {
  const found = await pairs(
    rounds,
    () => endToEndRate(bed, deliveries),
    () => bareRate(bed, deliveries / 2),
    (line) => say(`  published and delivered: ${line}`),
  )
  return {
    name: 'webhooks: published and delivered ÷ bare',
    ratio: found.ratio,
    target: { atLeast: 0.25 },
    measured: `${Math.round(found.ours)}/s, bare ${Math.round(found.bare)}/s`,
  }
}

async function slow(bed: Bed, { rounds, deliveries }: WebhooksSize, say: (line: string) => void): Promise<Figure> {
  const fewer = Math.max(4_000, Math.floor(deliveries / 5))
  await bed.sink.ask({ kind: 'slow', ...slowAnswers })
  const found = await pairs(
    rounds,
    () => backlogRate(bed, fewer, 'eval.run.failed'),
    () => bareRate(bed, fewer, slowEndpointCount),
    (line) => say(`  1 % of answers after 3 s: ${line}`),
  )
  await bed.sink.ask({ kind: 'slow', perThousand: 0, ms: 0 })
  return {
    name: 'webhooks: with 1 % slow answers ÷ bare',
    ratio: found.ratio,
    target: { atLeast: 0.95 },
    measured: `${Math.round(found.ours)}/s, bare ${Math.round(found.bare)}/s, 32 in flight`,
  }
}
