import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseSealKeys, SealKeysInvalid } from './keys.ts'

const KEY = randomBytes(32)
const GOOD = `new:${KEY.toString('base64')}`

test('a list of keys is read in its order, with spaces, an end comma and either base64', () => {
  const other = randomBytes(32)
  assert.deepEqual(parseSealKeys(` ${GOOD} , old:${other.toString('base64url')},`), [
    { id: 'new', key: KEY },
    { id: 'old', key: other },
  ])
})

test('a wrong list says which entry is wrong and how to make a right one', () => {
  const cases: [string, RegExp][] = [
    ['', /no key.*openssl rand/],
    [' , ', /no key/],
    [KEY.toString('base64'), /Key 1 has no id.*id:base64/],
    [`${GOOD},bad id:${KEY.toString('base64')}`, /id of key 2/],
    [`${GOOD},b:!!!`, /Key 2 \("b"\) is not base64/],
    [`${GOOD},b:`, /Key 2 \("b"\) is not base64/],
    [`a:${randomBytes(16).toString('base64')}`, /Key 1 \("a"\) has 16 bytes; it must have 32/],
    [`${GOOD},${GOOD}`, /"new" is used twice/],
    [Array.from({ length: 17 }, (_, n) => `k${n}:${KEY.toString('base64')}`).join(), /17 keys; at most 16/],
  ]
  for (const [text, message] of cases) assert.throws(() => parseSealKeys(text), { name: 'SealKeysInvalid', message })
})

test('no error shows any of a key', () => {
  const key = fc.uint8Array({ minLength: 20, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64'))
  fc.assert(
    fc.property(key, fc.constantFrom('', 'a:', 'a b:', 'a:?'), (encoded, before) => {
      try {
        parseSealKeys(before + encoded)
      } catch (error) {
        assert.ok(error instanceof SealKeysInvalid)
        assert.ok(!error.message.includes(encoded.slice(0, 12)))
      }
    }),
  )
})
