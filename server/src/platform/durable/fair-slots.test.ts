import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairSlots } from './fair-slots.ts'

const never = new AbortController().signal

test('a worker never works on more lines at once than it was told to', async () => {
  const slots = new FairSlots(3)
  let atOnceMax = 0
  const one = async () => {
    assert.equal(await slots.take('p', never), true)
    atOnceMax = Math.max(atOnceMax, slots.taken)
    await new Promise((resolve) => setImmediate(resolve))
    slots.free('p')
  }
  await Promise.all(Array.from({ length: 20 }, one))
  assert.deepEqual([atOnceMax, slots.taken], [3, 0])
})

test('projects take turns, however many lines one of them brings', async () => {
  const slots = new FairSlots(1)
  const order: string[] = []
  await slots.take('large', never)
  const line = async (projectId: string) => {
    await slots.take(projectId, never)
    order.push(projectId)
    slots.free(projectId)
  }
  const lines = [...Array.from({ length: 6 }, () => 'large'), 'small', 'small'].map(line)
  slots.free('large')
  await Promise.all(lines)
  assert.deepEqual(order.slice(0, 4), ['large', 'small', 'large', 'small'])
  assert.equal(slots.taken, 0)
})

test('a line that was called off while it waited takes no slot', async () => {
  const slots = new FairSlots(1)
  await slots.take('p', never)
  const off = new AbortController()
  const waiting = slots.take('p', off.signal)
  const next = slots.take('p', never)
  off.abort()
  assert.equal(await waiting, false)
  assert.equal(await slots.take('p', off.signal), false)
  slots.free('p')
  assert.equal(await next, true)
  slots.free('p')
  assert.equal(slots.taken, 0)
})

test('a project that has nothing in hand is given what becomes free, until it has as much as others', async () => {
  const slots = new FairSlots(4)
  const held: string[] = []
  const take = async (projectId: string) => {
    await slots.take(projectId, never)
    held.push(projectId)
  }
  for (let n = 0; n < 4; n += 1) await take('large')
  const waiting = ['large', 'large', 'large', 'small', 'small', 'small'].map(take)
  for (let n = 0; n < 3; n += 1) slots.free('large')
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(held.slice(4).toSorted(), ['large', 'small', 'small'])
  for (const projectId of ['large', 'large', 'small', 'small', 'large', 'small', 'large']) slots.free(projectId)
  await Promise.all(waiting)
})

test('when one project has all slots, others begin at once with what is kept for them', async () => {
  const slots = new FairSlots(16, 4)
  for (let n = 0; n < 16; n += 1) assert.equal(await slots.take('large', never), true)
  const off = new AbortController()
  const more = slots.take('large', off.signal)
  assert.equal(await slots.take('small', never), true)
  assert.equal(await slots.take('other', never), true)
  off.abort()
  assert.equal(await more, false)
})

test('whatever comes and goes, slots stay bounded and none is lost', async () => {
  const step = fc.record({ project: fc.constantFrom('a', 'b', 'c'), kind: fc.constantFrom('take', 'free', 'abort') })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 0, max: 3 }),
      fc.array(step),
      async (max, reserve, steps) => {
        const slots = new FairSlots(max, reserve)
        const held: string[] = []
        const waits: { off: AbortController; over: Promise<unknown> }[] = []
        for (const { project, kind } of steps) {
          if (kind === 'take') {
            const off = new AbortController()
            const over = slots.take(project, off.signal).then((taken) => taken && held.push(project))
            waits.push({ off, over })
          } else if (kind === 'free') {
            const [first] = held.splice(0, 1)
            if (first !== undefined) slots.free(first)
          } else waits.at(-1)?.off.abort()
          await new Promise((resolve) => setImmediate(resolve))
          assert.ok(slots.taken <= max + reserve)
          assert.equal(slots.taken, held.length)
        }
        for (let n = 0; n < steps.length && held.length > 0; n += 1) {
          slots.free(held.shift() ?? '')
          await new Promise((resolve) => setImmediate(resolve))
        }
        await Promise.all(waits.map(({ over }) => over))
        for (const project of held.splice(0)) slots.free(project)
        assert.equal(slots.taken, 0)
      },
    ),
    { numRuns: 50 },
  )
})
