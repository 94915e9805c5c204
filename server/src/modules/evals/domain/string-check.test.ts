import assert from 'node:assert/strict'
import { test } from 'node:test'
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
