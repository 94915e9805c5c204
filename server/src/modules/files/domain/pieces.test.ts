import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { piecesInRange } from './pieces.ts'

test('any range over any pieces gives exactly the bytes of the whole', () => {
  const pieces = fc.array(fc.string({ maxLength: 8 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(pieces, fc.nat(50), fc.nat(50), (texts, a, b) => {
      const whole = texts.join('')
      const start = Math.min(a, b)
      const end = Math.max(a, b)
      const stored = texts.map((text, index) => ({ blob: String(index), bytes: text.length }))
      const read = piecesInRange(stored, start, end)
        .map(({ blob, range }) => {
          const text = texts[Number(blob)] ?? ''
          return range === null ? text : text.slice(range.start, range.end + 1)
        })
        .join('')
      assert.equal(read, whole.slice(start, end + 1))
    }),
  )
})
