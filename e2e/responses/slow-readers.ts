import { sleep } from '#platform/std/clock.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import type { Memory } from '../fuzz/server-memory.ts'
import type { Checks } from '../load/checks.ts'
import { hostedShell } from './background-works.ts'
import type { Fleet } from './fleet.ts'
import { RawClient } from './raw-client.ts'
import { turnOf } from './scripted-work.ts'

interface SlowReading {
  readonly fleet: Fleet
  readonly checks: Checks
  readonly readers: number
  readonly waitCut: boolean
  readonly memory: (fleet: Fleet) => Promise<Memory>
}

/** Turns of 128 kB each, 15 MB as a stream: more than the buffers of two sockets hold. */
const turns = 30
const words = 64
const wordLength = 2_000
const streamBytesMin = 2 * turns * words * wordLength
const boundMs = 180_000
const fillMs = 3_000
/** A reader that takes nothing is cut after a minute; a few seconds for a busy machine. */
const cutWithinMs = 75_000
/** Of the node's heap for one reader that does not read: a page of the store, and what is announced meanwhile. */
const heldBytesMax = 2 * 1_048_576

async function longResponse(fleet: Fleet): Promise<string> {
  const text = Array.from({ length: words }, (_none, index) => String(index).padEnd(wordLength, 'x')).join(' ')
  const call = { name: 'shell', arguments: { commands: ['think'] } }
  fleet.double.decide((body) => (turnOf(body).index < turns - 1 ? { text, calls: [call] } : { text }))
  const client = fleet.client()
  const { id } = await client.responses.create({
    model: 'double-chat',
    input: 'Tell a long story.',
    background: true,
    tools: [hostedShell],
  })
  const isOver = async () => (await client.responses.retrieve(id)).status === 'completed'
  if (!(await becomesTrue(isOver, boundMs))) throw new Error('not in time: the long story')
  return id
}

async function readAll(fleet: Fleet, id: string): Promise<{ ms: number; bytes: number; whole: boolean }> {
  const at = performance.now()
  const reader = await RawClient.open(targetOf(fleet), 'sse', `/v1/responses/${id}?stream=true`)
  await becomesTrue(() => reader.ended, boundMs)
  const ms = performance.now() - at
  reader.destroy()
  return { ms, bytes: reader.bytes, whole: reader.bytes > streamBytesMin }
}

const targetOf = (fleet: Fleet) => ({ port: fleet.portOf(), key: fleet.stack.seeded.projectKey })

export async function readSlowly({ fleet, checks, readers, waitCut, memory }: SlowReading): Promise<void> {
  const id = await longResponse(fleet)
  const alone = await readAll(fleet, id)
  const before = await memory(fleet)
  const slow = await Promise.all(
    Array.from({ length: readers }, async () => {
      const reader = await RawClient.open(targetOf(fleet), 'sse', `/v1/responses/${id}?stream=true`)
      reader.stopReading()
      return reader
    }),
  )
  const stoppedAt = performance.now()
  await sleep(fillMs)
  const beside = await readAll(fleet, id)
  const after = await memory(fleet)
  const held = (after.heapBytes - before.heapBytes) / readers
  checks.expect(
    `a reader goes on beside ${readers} that do not read`,
    beside.whole,
    `${(beside.bytes / 1_048_576).toFixed(0)} MB in ${beside.ms.toFixed(0)} ms, alone in ${alone.ms.toFixed(0)} ms`,
  )
  checks.expect(
    `each of the others holds less than ${heldBytesMax / 1_048_576} MB of the node's heap`,
    held < heldBytesMax,
    `${(held / 1_048_576).toFixed(2)} MB each; resident ${((after.residentBytes - before.residentBytes) / 1_048_576 / readers).toFixed(2)} MB each`,
  )
  if (waitCut) {
    // The end of a connection is behind the bytes that were never read: reading on shows it.
    await sleep(Math.max(0, cutWithinMs - (performance.now() - stoppedAt)))
    for (const reader of slow) reader.readOn()
    const cut = await becomesTrue(() => slow.every(({ ended }) => ended), fillMs)
    const short = slow.filter(({ bytes }) => bytes < beside.bytes).length
    checks.expect(
      `whoever reads nothing for a minute is cut`,
      cut && short === readers,
      `${short} of ${readers} got a part: ${(Math.max(...slow.map(({ bytes }) => bytes)) / 1_048_576).toFixed(1)} MB at most`,
    )
  }
  for (const reader of slow) reader.destroy()
}
