import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'

import fc from 'fast-check'

import { boundedBuffer, parseByteRange } from './bytes.ts'

test('the examples of RFC 9110 are read as it says', () => {
  const size = 10_000
  assert.deepEqual(parseByteRange('bytes=0-499', size), { start: 0, end: 499 })
  assert.deepEqual(parseByteRange('bytes=500-999', size), { start: 500, end: 999 })
  assert.deepEqual(parseByteRange('bytes=-500', size), { start: 9500, end: 9999 })
  assert.deepEqual(parseByteRange('bytes=9500-', size), { start: 9500, end: 9999 })
  assert.deepEqual(parseByteRange('BYTES=0-0', size), { start: 0, end: 0 })
  assert.deepEqual(parseByteRange('bytes=0-99999999999999999999999', size), { start: 0, end: 9999 })
  assert.deepEqual(parseByteRange('bytes=-99999999999999999999999', size), { start: 0, end: 9999 })
  assert.equal(parseByteRange('bytes=10000-', size), 'unsatisfiable')
  assert.equal(parseByteRange(`bytes=${'9'.repeat(400)}-`, size), 'unsatisfiable')
  assert.equal(parseByteRange('bytes=-0', size), 'unsatisfiable')
  assert.equal(parseByteRange('bytes=0-', 0), 'unsatisfiable')
  assert.equal(parseByteRange('bytes=-5', 0), null)
})

test('what is malformed, in another unit or several ranges gets the whole body', () => {
  const ignored = [undefined, '', 'bytes', 'bytes=', 'bytes=-', 'bytes=5-3', 'bytes=a-b', 'bytes=0-1,3-4', 'lines=0-1']
  for (const header of [...ignored, 'bytes=0x1-2', 'bytes=1.5-2', 'bytes=+1-2', 'bytes=1 - 2', 'bytes=--1']) {
    assert.equal(parseByteRange(header, 100), null, header)
  }
})

test('a range is the slice that its header asks for, and never leaves the body', () => {
  const edge = fc.integer({ min: 0, max: 60 })
  fc.assert(
    fc.property(edge, edge, fc.integer({ min: 1, max: 50 }), (a, b, size) => {
      const body = Buffer.from(Array.from({ length: size }, (_, at) => at))
      const slice = (header: string) => {
        const range = parseByteRange(header, size)
        return range === null || range === 'unsatisfiable' ? range : body.subarray(range.start, range.end + 1)
      }
      const whole = body.subarray(a, b + 1)
      assert.deepEqual(slice(`bytes=${a}-${b}`), b < a ? null : a >= size ? 'unsatisfiable' : whole)
      assert.deepEqual(slice(`bytes=${a}-`), a >= size ? 'unsatisfiable' : body.subarray(a))
      assert.deepEqual(slice(`bytes=-${a}`), a === 0 ? 'unsatisfiable' : body.subarray(-a))
    }),
  )
})

test('any header at all is answered, never thrown at', () => {
  fc.assert(fc.property(fc.string(), fc.nat(), (text, size) => void parseByteRange(`bytes=${text}`, size)))
})

test('a stream within the bound arrives whole; one past it is refused and let go', async () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(parts, fc.nat(80), async (chunks, bytesMax) => {
      const whole = Buffer.concat(chunks)
      const stream = Readable.from(chunks)
      if (whole.length <= bytesMax) return assert.deepEqual(await boundedBuffer(stream, bytesMax), whole)
      await assert.rejects(boundedBuffer(stream, bytesMax), { name: 'TooManyBytes', bytesMax })
      assert.equal(stream.destroyed, true)
    }),
  )
})
