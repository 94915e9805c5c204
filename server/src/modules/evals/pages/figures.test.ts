import assert from 'node:assert/strict'
import { test } from 'node:test'
import { count, duration, percent, score } from './figures.ts'

test('a share never reads as all or nothing unless it is', () => {
  const shares = [percent(0, 0), percent(0, 10), percent(1, 100_000), percent(99_999, 100_000), percent(17, 20)]
  assert.deepEqual(shares, ['–', '0 %', '0.1 %', '99.9 %', '85 %'])
  assert.equal(percent(10, 10), '100 %')
})

test('numbers and times are short', () => {
  assert.deepEqual([count(1_234_567), score(0.612345), score(1)], ['1,234,567', '0.6123', '1'])
  const times = [0, 1_250, 59_000, 372_000, 7_500_000].map(duration)
  assert.deepEqual(times, ['0.0 s', '1.3 s', '59 s', '6 min 12 s', '2 h 5 min'])
})
