import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'

import fc from 'fast-check'

import { bounded, sleep, SLEEP_MS_MAX, systemClock } from './clock.ts'

test('the system clock tells the time of the process', () => {
  const before = Date.now()
  const now = systemClock.now().getTime()
  assert.ok(now >= before && now <= Date.now())
})

test('a sleep that nobody ends lasts its time and leaves no listener', async () => {
  const { signal } = new AbortController()
  const before = performance.now()
  assert.equal(await sleep(20, signal), true)
  assert.ok(performance.now() - before >= 19)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('a signal ends a sleep at once, before or during it', async () => {
  const stop = new AbortController()
  const sleeping = sleep(SLEEP_MS_MAX, stop.signal)
  stop.abort()
  assert.equal(await sleeping, false)
  assert.equal(await sleep(SLEEP_MS_MAX, stop.signal), false)
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0)
})

test('a sleep that a timer cannot hold is a bug, not a sleep of no time', () => {
  const outside = fc.oneof(
    fc.constant(Number.NaN),
    fc.double({ max: -Number.MIN_VALUE, noNaN: true }),
    fc.double({ min: SLEEP_MS_MAX + 1, noNaN: true }),
  )
  fc.assert(fc.property(outside, (ms) => assert.throws(() => void sleep(ms), { name: 'AssertionFailed' })))
})

test('bounded work gives its result or its error, and a late one gives TimedOut', async () => {
  assert.equal(await bounded(1000, () => 7), 7)
  assert.equal(await bounded(1000, async () => 8), 8)
  await assert.rejects(
    bounded(1000, () => Promise.reject(new RangeError('own'))),
    { name: 'RangeError' },
  )
  const throwing = (): never => {
    throw new RangeError('at once')
  }
  await assert.rejects(bounded(1000, throwing), { name: 'RangeError' })
  const before = performance.now()
  await assert.rejects(
    bounded(20, () => new Promise<never>(() => {})),
    { name: 'TimedOut', message: /20 ms/ },
  )
  assert.ok(performance.now() - before < 1000)
})

test('work that fails after its bound disturbs nobody', async () => {
  let fail: (error: Error) => void = () => {}
  await assert.rejects(
    bounded(1, () => new Promise<never>((_, reject) => (fail = reject))),
    { name: 'TimedOut' },
  )
  fail(new Error('too late to matter'))
  await sleep(0)
})
