import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { commonSubsequence } from './common-subsequence.ts'

/** The table of the textbook. */
function byTable(left: number[], right: number[]): number {
  let row = Array.from<number>({ length: right.length + 1 }).fill(0)
  for (const element of left) {
    const next = [0]
    for (const [index, other] of right.entries()) {
      const skipped = Math.max(row[index + 1] ?? 0, next[index] ?? 0)
      next.push(element === other ? (row[index] ?? 0) + 1 : skipped)
    }
    row = next
  }
  return row.at(-1) ?? 0
}

test('blocks of bits find the length that the table finds, over one block and over several', () => {
  const sequences = fc.integer({ min: 1, max: 6 }).chain((symbols) => {
    const sequence = fc.array(fc.nat({ max: symbols - 1 }), { maxLength: 140, size: 'max' })
    return fc.tuple(fc.constant(symbols), sequence, sequence)
  })
  fc.assert(
    fc.property(sequences, ([symbols, left, right]) => {
      const found = commonSubsequence(Int32Array.from(left), Int32Array.from(right), symbols)
      assert.equal(found, byTable(left, right))
    }),
    { numRuns: 500 },
  )
})
