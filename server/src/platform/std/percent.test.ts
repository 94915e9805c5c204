import assert from 'node:assert/strict'
import { test } from 'node:test'
import { percent } from './percent.ts'

test('a share is rounded down: it is all of them only when it is', () => {
  const shares = [percent(99_999, 100_000), percent(11, 12), percent(17, 19), percent(0.57, 1), percent(1, 1)]
  assert.deepEqual(shares, ['99.9 %', '91.6 %', '89.4 %', '57.0 %', '100 %'])
  assert.deepEqual([percent(0, 5), percent(0, 0)], ['0 %', '–'])
})
