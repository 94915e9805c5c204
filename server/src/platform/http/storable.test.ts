import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fault } from '#platform/errors/fault.ts'
import { isStorable } from '#platform/std/storable-text.ts'
import { findUnstorable, refuseUnstorable } from './storable.ts'

test('text that PostgreSQL cannot keep is found wherever it is', () => {
  assert.equal(findUnstorable({ a: ['x', { b: '😀', c: 1, d: null, e: true }] }), null)
  assert.deepEqual(findUnstorable({ a: ['x', { b: 'q\u0000' }] }), ['a', 1, 'b'])
  assert.deepEqual(findUnstorable(['\ud800']), [0])
  assert.deepEqual(findUnstorable({ a: { 'k\u0000': 1 } }), ['a'], 'a bad key is the fault of the object that has it')
  assert.deepEqual(findUnstorable({ a: Infinity }), ['a'])
  assert.deepEqual(findUnstorable('\udc00'), [])
})

test('half a surrogate pair and U+0000 cannot be stored, everything else can', () => {
  assert.deepEqual(
    ['', 'a', '😀', '\ufeff', '\uffff', '\u0001'].map((text) => isStorable(text)),
    [true, true, true, true, true, true],
  )
  assert.deepEqual(
    ['\u0000', 'a\ud83d', '\ude00b'].map((text) => isStorable(text)),
    [false, false, false],
  )
})

test('the caller learns where the text is', () => {
  assert.throws(
    () => refuseUnstorable({ a: [{ b: '\u0000' }] }),
    (error: Fault) => error.param === 'a[0].b' && error.status === 400,
  )
  assert.throws(
    () => refuseUnstorable({ '\u0000': 1 }),
    (error: Fault) => error.param === null,
  )
})
