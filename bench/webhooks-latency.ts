import { OpenAI } from 'openai'
import type { Stack } from '../dev/stack.ts'
import { sleep } from '#platform/std/clock.ts'
import { createEndpoints, type Endpoint } from '../e2e/webhooks/endpoints.ts'
import { PublisherProcess, type Commits } from '../e2e/webhooks/publisher.ts'
import { SinkProcess, type Behaviour } from '../e2e/webhooks/sink.ts'
import { median, type Figure } from './figure.ts'
import type { WebhooksSize } from './webhooks.ts'

const neighbours: readonly (readonly [Behaviour, number])[] = [
  ['ok', 30],
  ['hang', 10],
  ['error', 10],
  ['redirect', 5],
  ['reset', 5],
]
/** A small part of what the machine can do: here the wait is measured, not the queue. */
const eventsPerSecond = 4
const warmUpSeconds = 2
const arrivalBoundMs = 60_000
const pollMs = 50

/** Milliseconds below which 99 of 100 lie. */
export function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN
}

/** From each commit to each first arrival; throws when one is missing after the bound. */
export async function delays(sink: SinkProcess, paths: string[], from: number, commits: Commits): Promise<number[]> {
  const began = performance.now()
  while (performance.now() - began < arrivalBoundMs) {
    const arrivals = await sink.ask<Float64Array[]>({ kind: 'arrivals', paths })
    const found = arrivals.flatMap((at) =>
      Array.from(commits, (commit, index) => {
        const arrival = at[from + index] ?? 0
        return arrival === 0 ? Number.NaN : arrival - commit
      }),
    )
    if (found.every((delay) => !Number.isNaN(delay))) return found
    await sleep(pollMs)
  }
  throw new Error('an event did not arrive')
}

export async function benchLatency(stack: Stack, size: WebhooksSize, say: (line: string) => void): Promise<Figure[]> {
  const sink = new SinkProcess()
  const worker = new PublisherProcess(stack)
  const publisher = new PublisherProcess(stack)
  try {
    const perSide = Math.ceil(eventsPerSecond * (size.latencySeconds + warmUpSeconds))
    await sink.listen(perSide * 2 * size.rounds)
    const wanted = neighbours.flatMap(([behaviour, count]) =>
      Array.from({ length: count }, (_none, index) => ({
        behaviour,
        name: `l${index}`,
        types: ['response.completed' as const],
      })),
    )
    const endpoints = await createEndpoints(stack, sink, wanted)
    await worker.start(true)
    await publisher.start()
    return await rounds({ stack, sink, publisher, endpoints, perSide }, size, say)
  } finally {
    await publisher.stop()
    await worker.stop()
    await sink.end()
  }
}

interface Bed {
  readonly stack: Stack
  readonly sink: SinkProcess
  readonly publisher: PublisherProcess
  readonly endpoints: readonly Endpoint[]
  readonly perSide: number
}

async function setBad({ stack, endpoints }: Bed, does: 'pause' | 'resume'): Promise<void> {
  const client = new OpenAI({
    baseURL: `http://127.0.0.1:${stack.httpPort}/v1`,
    apiKey: stack.seeded.projectKey,
  })
  for (const { id, behaviour } of endpoints)
    if (behaviour !== 'ok') await client.post(`/webhook_endpoints/${id}/${does}`)
}

async function side({ stack, sink, publisher, endpoints, perSide }: Bed, from: number): Promise<number[]> {
  const paths = endpoints.filter(({ behaviour }) => behaviour === 'ok').map(({ path }) => path)
  const commits = await publisher.publish({
    projectId: stack.seeded.projectId,
    types: ['response.completed'],
    from,
    to: from + perSide,
    perTransaction: 1,
    concurrency: 2,
    perSecond: eventsPerSecond,
  })
  const warmUp = eventsPerSecond * warmUpSeconds
  return await delays(sink, paths, from + warmUp, commits.slice(warmUp))
}

async function rounds(bed: Bed, size: WebhooksSize, say: (line: string) => void): Promise<Figure[]> {
  const pairs: { without: number; beside: number }[] = []
  for (let round = 0; round < size.rounds; round += 1) {
    await setBad(bed, 'pause')
    const without = p99(await side(bed, 2 * round * bed.perSide))
    await setBad(bed, 'resume')
    const beside = p99(await side(bed, (2 * round + 1) * bed.perSide))
    pairs.push({ without, beside })
    say(`  healthy p99: ${without.toFixed(0)} ms alone, ${beside.toFixed(0)} ms beside 30 bad endpoints`)
  }
  await setBad(bed, 'pause')
  const alone = median(pairs.map((pair) => pair.without))
  const beside = median(pairs.map((pair) => pair.beside))
  return [
    {
      name: 'webhooks: healthy p99 beside 30 bad ÷ alone',
      ratio: median(pairs.map((pair) => pair.beside / pair.without)),
      target: { atMost: 1.5 },
      measured: `${beside.toFixed(0)} ms, alone ${alone.toFixed(0)} ms`,
    },
    {
      name: 'webhooks: first attempt p99 ÷ one second',
      ratio: alone / 1_000,
      target: { atMost: 1 },
      measured: `${alone.toFixed(0)} ms after commit`,
    },
  ]
}
