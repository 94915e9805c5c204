import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LanePause } from '#platform/durable/lane-pause.ts'
import { Lanes } from '#platform/durable/lanes.ts'
import { workRows } from '#platform/durable/work-rows.ts'
import { sleep } from '#platform/std/clock.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { LimitWindow, type Ticket } from './limit-window.ts'

const never = new AbortController().signal
const boundMs = 20_000

/** Lets in one at a time, when it is told to, in the order in which they came. */
class Limit {
  readonly #waiting = new Set<() => void>()

  get waiting(): number {
    return this.#waiting.size
  }

  async admit(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#waiting.delete(enter)
        reject(signal.reason as Error)
      }
      this.#waiting.add(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  letIn(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    this.#waiting.delete(first)
    first()
  }
}

/** Rows that each make two calls, under a limit. */
class Chunk {
  readonly limit = new Limit()
  readonly done: number[] = []
  readonly #lanes: Lanes
  readonly #stop = new AbortController()
  readonly left: Promise<number>

  constructor(lanes: Lanes, projectId: string, count: number) {
    this.#lanes = lanes
    const window = new LimitWindow({ slowMs: 30, quickMs: 5 })
    const lane = { pause: new LanePause(), stop: this.#stop.signal, signal: never }
    const rows = Array.from({ length: count }, (_, n) => n)
    this.left = workRows(this.#lanes, lane, { projectId, rows, door: window }, (n, ticket) => this.#row(n, ticket))
  }

  async #row(n: number, ticket: Ticket): Promise<void> {
    for (let call = 0; call < 2; call += 1) {
      await ticket.letIn((signal) => this.limit.admit(signal), { signal: never, stop: this.#stop.signal })
    }
    this.done.push(n)
  }

  handOn(): void {
    this.#stop.abort()
  }
}

test('rows that wait for their limits give their slots to others, and none is forgotten', async () => {
  const lanes = new Lanes('lanes', 16)
  const slow = new Chunk(lanes, 'slow', 40)
  assert.ok(await becomesTrue(() => slow.limit.waiting === 16, boundMs), 'as many as there are slots')
  assert.ok(await becomesTrue(() => slow.limit.waiting === 4 && lanes.slots.taken === 4, boundMs))
  for (let turn = 0; turn < 2_000 && slow.done.length < 40; turn += 1) {
    slow.limit.letIn()
    await sleep(1)
    assert.ok(slow.limit.waiting <= 16)
  }
  assert.equal(await slow.left, 0)
  assert.deepEqual(
    slow.done.toSorted((a, b) => a - b),
    Array.from({ length: 40 }, (_, n) => n),
  )
  assert.equal(lanes.slots.taken, 0)
})

test('once waits are short again, more rows come in', async () => {
  const lanes = new Lanes('lanes', 16)
  const chunk = new Chunk(lanes, 'p', 60)
  assert.ok(await becomesTrue(() => chunk.limit.waiting === 4, boundMs))
  let most = 0
  for (let turn = 0; turn < 5_000 && chunk.done.length < 60; turn += 1) {
    for (let n = 0; n < 4; n += 1) chunk.limit.letIn()
    await new Promise((resolve) => setImmediate(resolve))
    most = Math.max(most, chunk.limit.waiting)
  }
  assert.equal(await chunk.left, 0)
  assert.ok(most > 6, `${most}`)
})

test('a chunk that is handed on waits for no limit', async () => {
  const lanes = new Lanes('lanes', 16)
  const chunk = new Chunk(lanes, 'p', 40)
  assert.ok(await becomesTrue(() => chunk.limit.waiting > 0, boundMs))
  chunk.handOn()
  assert.equal(await chunk.left, 40)
  assert.deepEqual([lanes.slots.taken, chunk.limit.waiting], [0, 0])
})
