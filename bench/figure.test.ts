import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundText, ciBound, holds, median } from './figure.ts'

test('a shared machine fails only what is twice as bad as promised', () => {
  assert.deepEqual(ciBound({ atLeast: 0.7 }), { atLeast: 0.35 })
  assert.deepEqual(ciBound({ atMost: 1.5 }), { atMost: 3 })
})

test('a ratio on its bound holds, and one beyond it, or none at all, does not', () => {
  assert.equal(holds(0.7, { atLeast: 0.7 }), true)
  assert.equal(holds(0.69, { atLeast: 0.7 }), false)
  assert.equal(holds(1.5, { atMost: 1.5 }), true)
  assert.equal(holds(1.51, { atMost: 1.5 }), false)
  assert.equal(holds(Number.NaN, { atMost: 1.5 }), false)
  assert.equal(holds(Number.NaN, { atLeast: 0.7 }), false)
})

test('one round disturbed by a neighbour does not move the median', () => {
  assert.equal(median([1, 1.1, 0.9, 1, 40]), 1)
  assert.equal(median([1, 2]), 1.5)
  assert.equal(Number.isNaN(median([])), true)
})

test('a table says which way a bound goes', () => {
  assert.equal(boundText({ atLeast: 0.7 }), '>= 0.7')
  assert.equal(boundText({ atMost: 3 }), '<= 3')
  assert.equal(boundText(null), '')
})
