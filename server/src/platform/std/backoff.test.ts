import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { backoff } from './backoff.ts'

test('waits double from the base up to the maximum', () => {
  const options = { baseMs: 100, maxMs: 1000, factor: 2, jitter: 0 }
  const waits = [1, 2, 3, 4, 5, 6].map((attempt) => backoff(options, attempt, Math.random))
  assert.deepEqual(waits, [100, 200, 400, 800, 1000, 1000])
})

test('a wait stays within its bounds for any attempt and any luck', () => {
  const options = fc.record({
    baseMs: fc.integer({ min: 1, max: 10_000 }),
    maxMs: fc.integer({ min: 10_000, max: 1_000_000 }),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  const luck = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(options, fc.integer({ min: 1, max: 100_000 }), luck, (chosen, attempt, random) => {
      const wait = backoff(chosen, attempt, () => random)
      const longest = backoff({ ...chosen, jitter: 0 }, attempt, () => random)
      assert.ok(Number.isInteger(wait) && wait >= 0 && wait <= longest && longest <= chosen.maxMs)
      assert.ok(wait >= Math.floor(longest * (1 - chosen.jitter)) - 1)
      assert.ok(longest <= backoff({ ...chosen, jitter: 0 }, attempt + 1, () => random))
    }),
  )
})

test('an attempt before the first is a bug', () => {
  const options = { baseMs: 1, maxMs: 1, factor: 1, jitter: 0 }
  for (const attempt of [0, -1, 1.5, Number.NaN]) assert.throws(() => backoff(options, attempt, Math.random))
})
