import pg from 'pg'
import type { WebhookEventType } from '@switchyard/contracts/webhook-events.ts'
import { sleep } from '#platform/std/clock.ts'
import type { Stack } from '../dev/stack.ts'
import { createEndpoints } from '../e2e/webhooks/endpoints.ts'
import { PublisherProcess } from '../e2e/webhooks/publisher.ts'
import { SinkProcess } from '../e2e/webhooks/sink.ts'
import { median, type Figure } from './figure.ts'
import { delays, p99 } from './webhooks-latency.ts'
import type { WebhooksSize } from './webhooks.ts'

const bulkEndpoints = 8
const bulkType: WebhookEventType = 'eval.run.succeeded'
const urgentPath = '/ok/urgent'
const urgentPerSecond = 25
const calmMs = 500

interface Bed {
  readonly stack: Stack
  readonly db: pg.Pool
  readonly bulkSink: SinkProcess
  readonly urgentSink: SinkProcess
  readonly size: WebhooksSize
}

export async function benchUrgent(stack: Stack, size: WebhooksSize, say: (line: string) => void): Promise<Figure[]> {
  const bulkSink = new SinkProcess()
  const urgentSink = new SinkProcess()
  const db = new pg.Pool({ connectionString: stack.env['SWITCHYARD_POSTGRES_URL'] ?? '', max: 1 })
  try {
    await bulkSink.listen(size.deliveries, bulkEndpoints)
    await urgentSink.listen(size.urgentEvents * 2)
    const bulk = Array.from({ length: bulkEndpoints }, (_none, index) => ({
      behaviour: 'ok' as const,
      name: `u${index}`,
      types: [bulkType],
    }))
    await createEndpoints(stack, bulkSink, bulk)
    await createEndpoints(stack, urgentSink, [{ behaviour: 'ok', name: 'urgent', types: ['realtime.call.incoming'] }])
    const bed = { stack, db, bulkSink, urgentSink, size }
    return [await roles(bed, 'roles split', 4, say), await roles(bed, 'one process', 10, say)]
  } finally {
    await db.end()
    await bulkSink.end()
    await urgentSink.end()
  }
}

async function roles(
  bed: Bed,
  how: 'roles split' | 'one process',
  atMost: number,
  say: (line: string) => void,
): Promise<Figure> {
  const worker = how === 'roles split' ? new PublisherProcess(bed.stack) : null
  const committer = new PublisherProcess(bed.stack)
  const filler = new PublisherProcess(bed.stack)
  try {
    await worker?.start(true)
    await committer.start(worker === null)
    await filler.start()
    // Warm on both sides.
    await urgentP99(bed, committer)
    const pairs: { idle: number; loaded: number }[] = []
    for (let round = 0; round < bed.size.urgentRounds; round += 1) {
      const idle = await urgentP99(bed, committer)
      await fill(bed, filler)
      const loaded = await urgentP99(bed, committer)
      const left = await empty(bed)
      pairs.push({ idle, loaded })
      say(`  urgent, ${how}: p99 ${idle.toFixed(1)} ms idle, ${loaded.toFixed(1)} ms loaded, ${left} still queued`)
    }
    const medianOf = (side: 'idle' | 'loaded') => median(pairs.map((pair) => pair[side])).toFixed(1)
    return {
      name: `webhooks: urgent p99 behind a full queue ÷ idle, ${how}`,
      ratio: median(pairs.map(({ idle, loaded }) => loaded / idle)),
      target: { atMost },
      measured: `${medianOf('loaded')} ms, idle ${medianOf('idle')} ms`,
    }
  } finally {
    await filler.stop()
    await committer.stop()
    await worker?.stop()
  }
}

async function fill({ stack, size }: Bed, filler: PublisherProcess): Promise<void> {
  await filler.publish({
    projectId: stack.seeded.projectId,
    types: [bulkType],
    from: 0,
    to: size.deliveries / bulkEndpoints,
    perTransaction: 500,
    concurrency: 2,
    perSecond: 0,
  })
}

/** Takes what is left of the queue away, and returns how much that was: the queue must outlast the measurement. */
async function empty({ db, bulkSink }: Bed): Promise<number> {
  const { rowCount } = await db.query('delete from webhooks.due')
  let before = -1
  for (;;) {
    const { requests } = await bulkSink.counts()
    if (requests === before) break
    before = requests
    await sleep(calmMs)
  }
  await db.query('vacuum webhooks.due')
  await bulkSink.ask({ kind: 'forget' })
  return rowCount ?? 0
}

async function urgentP99({ stack, urgentSink, size }: Bed, committer: PublisherProcess): Promise<number> {
  await urgentSink.ask({ kind: 'forget' })
  const commits = await committer.publish({
    projectId: stack.seeded.projectId,
    types: ['realtime.call.incoming'],
    from: 0,
    to: size.urgentEvents,
    perTransaction: 1,
    concurrency: 4,
    perSecond: urgentPerSecond,
  })
  return p99(await delays(urgentSink, [urgentPath], 0, commits))
}
