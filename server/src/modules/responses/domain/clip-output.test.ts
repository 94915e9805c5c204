import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clipOutput } from './clip-output.ts'

const entry = (stdout: string, stderr: string) => ({ stdout, stderr, outcome: { type: 'exit' as const, exit_code: 0 } })
const size = (text: string) => Array.from(text).length

test('output stays within its length, and all of that length is used', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), fc.nat(40), (stdout, stderr, max) => {
      const clipped = clipOutput(entry(stdout, stderr), max)
      assert.ok(stdout.startsWith(clipped.stdout) && stderr.startsWith(clipped.stderr))
      assert.equal(size(clipped.stdout) + size(clipped.stderr), Math.min(max, size(stdout) + size(stderr)))
    }),
  )
})

test('each stream has half, and what one does not need goes to the other', () => {
  assert.deepEqual(clipOutput(entry('aaaaaaaa', 'bbbbbbbb'), 8), entry('aaaa', 'bbbb'))
  assert.deepEqual(clipOutput(entry('aaaaaaaa', 'b'), 6), entry('aaaaa', 'b'))
  assert.deepEqual(clipOutput(entry('', 'bbbbbbbb'), 6), entry('', 'bbbbbb'))
})

test('no length, no cut', () => {
  assert.deepEqual(clipOutput(entry('a', 'b'), null), entry('a', 'b'))
})
