import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Places } from './places.ts'

const never = new AbortController().signal

test('a worker never works on more steps at once than it was told to, and takes them in order', async () => {
  const places = new Places(3)
  let running = 0
  let atOnceMax = 0
  const order: number[] = []
  const one = async (at: number) => {
    assert.equal(await places.take(never), true)
    order.push(at)
    running += 1
    atOnceMax = Math.max(atOnceMax, running)
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
    places.free()
  }
  const numbers = Array.from({ length: 20 }, (_, at) => at)
  await Promise.all(numbers.map(one))
  await places.idle()
  assert.deepEqual({ atOnceMax, taken: places.taken, order }, { atOnceMax: 3, taken: 0, order: numbers })
})

test('a step that the engine gave up while it waited takes no place', async () => {
  const places = new Places(1)
  await places.take(never)
  const givenUp = new AbortController()
  const waiting = places.take(givenUp.signal)
  const next = places.take(never)
  givenUp.abort()
  assert.equal(await waiting, false)
  assert.equal(await places.take(givenUp.signal), false, 'nor does one that was given up before')
  places.free()
  assert.equal(await next, true)
  places.free()
  await places.idle()
})
