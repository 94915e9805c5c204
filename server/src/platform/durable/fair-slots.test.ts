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
    slots.free()
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
    slots.free()
  }
  const lines = [...Array.from({ length: 6 }, () => 'large'), 'small', 'small'].map(line)
  slots.free()
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
  slots.free()
  assert.equal(await next, true)
  slots.free()
  assert.equal(slots.taken, 0)
})
