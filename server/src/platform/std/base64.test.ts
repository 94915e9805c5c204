import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBase64 } from './base64.ts'

test('what was encoded is decoded, padded or not, in one line or many', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64')
      for (const form of [text, text.replaceAll('=', ''), text.replaceAll(/.{1,76}/g, '$&\r\n'), ` ${text}\n`]) {
        assert.deepEqual(decodeBase64(form), Buffer.from(bytes))
      }
    }),
  )
})

test('anything else is refused rather than read in part', () => {
  for (const text of ['***', 'aGVsbG8*', 'a', 'aGVsb', 'aG=VsbG8', 'aGVsbG8==', '=', 'aGVsbA===', 'aGVs\u0000', 'é']) {
    assert.equal(decodeBase64(text), null, text)
  }
})

test('a long text that is none is refused at once', () => {
  const began = performance.now()
  assert.equal(decodeBase64(`${' '.repeat(5_000_000)}*`), null)
  assert.equal(decodeBase64('='.repeat(5_000_000)), null)
  assert.ok(performance.now() - began < 2_000)
})
