import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addTotals, noTotals, type Totals } from './totals.ts'

const count = fc.nat({ max: 1_000 })
const model = fc.record({
  model: fc.constantFrom('a', 'b', 'c'),
  calls: count,
  prompt: count,
  completion: count,
  cached: count,
})
const totals: fc.Arbitrary<Totals> = fc.record({
  passed: count,
  failed: count,
  errored: count,
  criteria: fc.array(fc.record({ passed: count, failed: count }), { maxLength: 4 }),
  models: fc.uniqueArray(model, { selector: (one) => one.model }),
})

test('sums of chunks are the same however they are grouped', () => {
  fc.assert(
    fc.property(fc.array(totals, { maxLength: 6 }), fc.nat({ max: 6 }), (parts, at) => {
      const halves = [addTotals(parts.slice(0, at)), addTotals(parts.slice(at))]
      assert.deepEqual(addTotals(halves), addTotals(parts))
    }),
  )
})

test('nothing adds nothing', () => {
  assert.deepEqual(addTotals([]), noTotals)
})
