import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stringCheck } from './string-check.ts'

const cases = [
  ['eq', 'Hardware', 'Hardware', true],
  ['eq', 'Hardware', 'hardware', false],
  ['eq', 'Hardware ', 'Hardware', false],
  ['eq', '', '', true],
  // Two ways to write one letter are two texts.
  ['eq', '\u00e9', 'e\u0301', false],
  ['ne', 'Hardware', 'hardware', true],
  ['ne', 'Hardware', 'Hardware', false],
  ['like', 'It is Hardware.', 'Hardware', true],
  ['like', 'It is Hardware.', 'hardware', false],
  // It is a part of the text, not a pattern.
  ['like', 'anything', '%', false],
  ['like', 'anything', '', true],
  ['ilike', 'It is HARDWARE.', 'hardware', true],
  ['ilike', 'It is HARDWARE.', '.*', false],
  ['ilike', 'STRASSE', 'straße', false],
] as const

for (const [operation, input, reference, passes] of cases) {
  test(`string_check ${operation}: ${JSON.stringify(input)} against ${JSON.stringify(reference)} (S1-2.8-n)`, () => {
    assert.equal(stringCheck(operation, input, reference), passes)
  })
}

test('like takes time by the length of the texts, whatever they hold', () => {
  const part = `${'a'.repeat(500_000)}b${'a'.repeat(500_000)}`
  const text = 'a'.repeat(3_000_000)
  const began = performance.now()
  assert.equal(stringCheck('like', text, part), false)
  assert.equal(stringCheck('ilike', `${text}B${text}`, part), true)
  assert.equal(stringCheck('like', part, text), false)
  // Compared letter by letter, these take minutes.
  assert.ok(performance.now() - began < 10_000)
})

test('like finds in long texts what it finds in short ones', () => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(few, few, fc.integer({ min: 0, max: 3 }), (stretch, odd, at) => {
      const part = stretch.repeat(1_000) + odd
      const text = [stretch.repeat(4_000), stretch.repeat(2_000) + odd, odd.repeat(3_000)][at] ?? stretch.repeat(999)
      assert.equal(stringCheck('like', text, part), text.includes(part))
    }),
    { numRuns: 200 },
  )
})
