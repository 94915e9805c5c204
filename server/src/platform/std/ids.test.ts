import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { base32, newId, newRequestId, timeOfId } from './ids.ts'

test('an id names the millisecond it was made in', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (ms) => {
      assert.equal(timeOfId('file-', newId('file-', ms)), ms)
    }),
  )
})

test('ids of a later millisecond sort after those of an earlier one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 2 }), (ms) => {
      assert.ok(newId('x_', ms) < newId('x_', ms + 1))
    }),
  )
})

test('a text that is no id of the prefix has no time', () => {
  for (const text of ['', 'file-', 'file-zzz', 'proj_01k9z3q4e8f6tv5x2m7c0n1b3a', `file-${'!'.repeat(26)}`]) {
    assert.equal(timeOfId('file-', text), null)
  }
})

test('base32 has no look-alike letters', () => {
  assert.match(base32(Buffer.from('hello world, hello switchyard')), /^[0-9a-hjkmnp-tv-z]+$/)
})

test('every request gets an id of its own, of one plain form', () => {
  const ids = Array.from({ length: 10_000 }, () => newRequestId())
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^req_[0-9a-f]{32}$/)
})
