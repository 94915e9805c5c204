/**
 * Bounds of one api node: memory for each of ten thousand idle clients, SSE and WebSocket, and what readers that stop
 * reading do to it: nothing to others, a bounded amount to its memory, until they are cut.
 *
 *   node e2e/responses/clients.bounds.ts --clients 10000 --slow 20 --wait-cut
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { sleep } from '#platform/std/clock.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { settledMemory, type Memory } from '../fuzz/server-memory.ts'
import { Checks } from '../load/checks.ts'
import { eachOf } from './audit-background.ts'
import { Fleet } from './fleet.ts'
import { RawClient, type Wire } from './raw-client.ts'
import { readSlowly } from './slow-readers.ts'

const responsesMax = 50
const openAtOnce = 100
const boundMs = 120_000
/** How long those that wait are watched. */
const idleMs = { few: 1_000, many: 10_000 }
const manyMin = 1_000
const asks = 20
const clockTicksPerSecond = 100
/** A client that waits must cost less than this of the node's memory. */
const bytesPerClientMax = 100_000

async function hangingResponses(fleet: Fleet, count: number): Promise<string[]> {
  fleet.double.decide(() => ({ text: 'never said', trouble: 'hang' }))
  const client = fleet.client()
  const ids = await eachOf(Array.from({ length: count }), async () => {
    const { id } = await client.responses.create({ model: 'double-chat', input: 'Wait.', background: true })
    return id
  })
  if (!(await becomesTrue(() => fleet.double.open() >= count, boundMs))) throw new Error('not in time: they all wait')
  return ids
}

async function openClients(fleet: Fleet, wire: Wire, paths: readonly string[], count: number): Promise<RawClient[]> {
  const target = { port: fleet.portOf(), key: fleet.stack.seeded.projectKey }
  const clients: RawClient[] = []
  for (let from = 0; from < count; from += openAtOnce) {
    const some = Array.from({ length: Math.min(openAtOnce, count - from) }, (_none, index) =>
      RawClient.open(target, wire, paths[(from + index) % paths.length] ?? ''),
    )
    clients.push(...(await Promise.all(some)))
  }
  return clients
}

const memoryOf = (fleet: Fleet): Promise<Memory> => settledMemory(fleet.of('api', 0).process.pid, fleet.inspectorPort)
const mb = (bytes: number) => `${(bytes / 1_048_576).toFixed(0)} MB`

/** Time on a processor, all threads. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(user) + Number(system)) / clockTicksPerSecond
}

async function idleClients(fleet: Fleet, checks: Checks, wire: Wire, count: number): Promise<void> {
  const ids = wire === 'sse' ? await hangingResponses(fleet, Math.min(responsesMax, count)) : []
  const paths = wire === 'sse' ? ids.map((id) => `/v1/responses/${id}?stream=true`) : ['/v1/responses']
  const before = await memoryOf(fleet)
  const clients = await openClients(fleet, wire, paths, count)
  const after = await memoryOf(fleet)
  const each = Math.round((after.residentBytes - before.residentBytes) / count)
  const heap = Math.round((after.heapBytes - before.heapBytes) / count)
  checks.expect(
    `${count} idle ${wire} clients on one node, each for less than ${bytesPerClientMax / 1_000} kB`,
    clients.every(({ ended }) => !ended) && each < bytesPerClientMax,
    `${(each / 1_024).toFixed(1)} KiB resident each, of it ${(heap / 1_024).toFixed(1)} KiB heap; ${mb(before.residentBytes)} before, ${mb(after.residentBytes)} with them`,
  )
  await askMeanwhile(fleet, checks, wire, count < manyMin ? idleMs.few : idleMs.many)
  if (wire === 'sse') await endAll(fleet, checks, ids, clients)
  for (const client of clients) client.destroy()
  await becomesTrue(() => clients.every(({ ended }) => ended), boundMs)
  const left = await memoryOf(fleet)
  console.log(
    `  without them: ${mb(left.residentBytes)} resident, heap ${mb(left.heapBytes)} (${mb(before.heapBytes)} before)`,
  )
}

async function askMeanwhile(fleet: Fleet, checks: Checks, wire: Wire, watchMs: number): Promise<void> {
  const { pid } = fleet.of('api', 0).process
  const began = cpuSeconds(pid)
  await sleep(watchMs)
  const share = (cpuSeconds(pid) - began) / (watchMs / 1_000)
  const took: number[] = []
  const client = fleet.client(0, 0)
  for (let ask = 0; ask < asks; ask += 1) {
    const at = performance.now()
    await client.models.list()
    took.push(performance.now() - at)
  }
  const median = took.toSorted((a, b) => a - b)[asks / 2] ?? 0
  checks.expect(
    `others are answered while ${wire} clients wait`,
    took.length === asks,
    `median ${median.toFixed(1)} ms; the node takes ${(share * 100).toFixed(0)} % of a core for those that wait`,
  )
}

/** Cancels what they wait for: every one of them is told, and let go. */
async function endAll(
  fleet: Fleet,
  checks: Checks,
  ids: readonly string[],
  clients: readonly RawClient[],
): Promise<void> {
  const at = performance.now()
  await eachOf(ids, (id) => fleet.client().responses.cancel(id))
  const isTold = (client: RawClient) => client.ended || client.said('event: response.incomplete')
  await becomesTrue(() => clients.every(isTold), boundMs)
  const told = clients.filter((client) => client.said('event: response.incomplete')).length
  checks.expect(
    'each of them is told of the end',
    told === clients.length,
    `${told} of ${clients.length} within ${((performance.now() - at) / 1_000).toFixed(1)} s`,
  )
}

export interface ClientSizes {
  readonly clients: number
  readonly slow: number
  /** Waits for the minute after which slow readers are cut. */
  readonly waitCut: boolean
}

/** A provider that says nothing for as long as this takes must not be given up. */
export const patientSettings = {
  SWITCHYARD_PROVIDER_FIRST_PART_TIMEOUT_MS: '600000',
  SWITCHYARD_PROVIDER_IDLE_TIMEOUT_MS: '600000',
}

export async function proveBounds(fleet: Fleet, checks: Checks, sizes: ClientSizes): Promise<void> {
  await idleClients(fleet, checks, 'sse', sizes.clients)
  await idleClients(fleet, checks, 'websocket', sizes.clients)
  await readSlowly({ fleet, checks, readers: sizes.slow, waitCut: sizes.waitCut, memory: memoryOf })
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      clients: { type: 'string', default: '10000' },
      slow: { type: 'string', default: '20' },
      'wait-cut': { type: 'boolean', default: false },
    },
  })
  const checks = new Checks()
  const fleet = await Fleet.start({ api: 1, worker: 1, inspected: true, settings: patientSettings })
  try {
    const sizes = { clients: Number(values.clients), slow: Number(values.slow), waitCut: values['wait-cut'] }
    await proveBounds(fleet, checks, sizes)
  } finally {
    await fleet.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
