import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '#platform/errors/fault.ts'
import { parseJsonBody } from './json-body.ts'

const read = (text: string | Buffer) => parseJsonBody(Buffer.from(text as string))

function refused(text: string | Buffer): Fault {
  try {
    read(text)
  } catch (error) {
    assert.ok(error instanceof Fault, String(error))
    return error
  }
  return assert.fail('accepted')
}

test('a body is what JSON says, in UTF-8, with or without a byte order mark', () => {
  assert.deepEqual(read('{"a":[1,"é😀",null,true]}'), { a: [1, 'é😀', null, true] })
  assert.deepEqual(read('\ufeff{"a":1}'), { a: 1 })
  assert.equal(read(''), undefined)
  assert.equal(read('null'), null)
})

test('what is not JSON is refused without repeating it', () => {
  for (const text of ['{', '{"a":}', "{'a':1}", '{"a":1}x', 'NaN', 'undefined', ' ', '{"a":"\u0000"}', '{"a":01}']) {
    const fault = refused(text)
    assert.equal(fault.code, 'invalid_json', text)
    assert.doesNotMatch(fault.message, /Unexpected|position/)
  }
})

test('bytes that are not UTF-8 are refused', () => {
  for (const bytes of [[0xff], [0x22, 0xc3, 0x28, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xc0, 0x80, 0x22]]) {
    assert.equal(refused(Buffer.from(bytes)).code, 'invalid_json')
  }
})

test('escapes cannot bring in what cannot be stored', () => {
  assert.equal(refused('{"a":{"b":["\\u0000"]}}').param, 'a.b[0]')
  assert.equal(refused('{"a":"\\ud800"}').param, 'a')
  assert.equal(refused('{"\\u0000":1}').code, 'invalid_value')
  assert.deepEqual(read('{"a":"\\ud83d\\ude00 \\u0041"}'), { a: '😀 A' })
  assert.deepEqual(read('{"a":"\\\\u0000"}'), { a: '\\u0000' }, 'an escaped backslash is no escape')
})

test('numbers out of range are refused, large ones are not', () => {
  assert.equal(refused('{"a":[1e999]}').param, 'a[0]')
  assert.equal(refused('{"a":-1E400}').param, 'a')
  assert.equal(refused(`{"a":${'9'.repeat(400)}}`).param, 'a')
  assert.deepEqual(read('{"a":1e308,"b":-1.5E-3,"c":1e30}'), {
    a: 1e308,
    b: -0.0015,
    c: 1e30,
  })
})

test('nesting is bounded, and brackets inside strings do not count', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  assert.ok(Array.isArray(read(nested(64))))
  assert.match(refused(nested(65)).message, /64 levels/)
  assert.match(refused('['.repeat(1_000_000)).message, /64 levels/)
  assert.match(refused('{"a":'.repeat(100)).message, /64 levels/)
  assert.deepEqual(read(`{"a":"${'['.repeat(200)}\\"${'{'.repeat(200)}"}`), {
    a: `${'['.repeat(200)}"${'{'.repeat(200)}`,
  })
})

test('every value that JSON can write is read back as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value)
      assert.deepEqual(read(text), JSON.parse(text))
    }),
    { numRuns: 1_000 },
  )
})

test('whatever bytes arrive are read or refused with a fault', () => {
  const scraps = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    '\\u',
    'd800',
    '1e',
    '999',
    ':',
    ',',
    'a',
    ' ',
    '\\u0000',
  )
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.array(scraps, { maxLength: 40 }).map((parts) => Buffer.from(parts.join(''))),
  )
  fc.assert(
    fc.property(body, (bytes) => {
      try {
        parseJsonBody(bytes)
      } catch (error) {
        assert.ok(error instanceof Fault, String(error))
        assert.equal(error.status, 400)
      }
    }),
    { numRuns: 3_000 },
  )
})
