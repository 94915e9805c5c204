import assert from 'node:assert/strict'
import { test } from 'node:test'
import { count, duration, score } from './figures.ts'

test('numbers and times are short', () => {
  assert.deepEqual([count(1_234_567), score(0.612345), score(1)], ['1,234,567', '0.6123', '1'])
  const times = [0, 1_250, 59_000, 372_000, 7_500_000].map(duration)
  assert.deepEqual(times, ['0.0 s', '1.3 s', '59 s', '6 min 12 s', '2 h 5 min'])
})

test('a score does not look like the threshold that it missed', () => {
  assert.deepEqual([0.79999, 0.8, 0.57, 0.29, 9.99999, -0.00001].map(score), [
    '0.7999',
    '0.8',
    '0.57',
    '0.29',
    '9.9999',
    '-0.0001',
  ])
})
