import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLine, rowDepthMax, rowValuesMax } from './parse-row.ts'

const reasonOf = (line: string | Buffer) => {
  const parsed = parseLine(Buffer.from(line), 7)
  return 'error' in parsed ? parsed.error.message : null
}

test('a line is an object with the key item, and may bring a sample (S1-2.8-aj)', () => {
  assert.deepEqual(parseLine(Buffer.from('{"item":{"a":1}}'), 1), { item: { a: 1 }, sample: null, name: 'Line 1' })
  assert.deepEqual(parseLine(Buffer.from('{"item":{},"sample":{"output_text":"x"}}'), 2), {
    item: {},
    sample: { output_text: 'x' },
    name: 'Line 2',
  })
})

const wrong: readonly (readonly [string, string | Buffer, RegExp])[] = [
  ['no JSON', 'item', /^Line 7: it is not JSON\.$/],
  ['half an object', '{"item":{', /not JSON/],
  ['two objects', '{"item":{}}{"item":{}}', /not JSON/],
  ['a list', '[{"item":{}}]', /not an object with the key 'item'/],
  ['null', 'null', /not an object/],
  ['no item', '{"Item":{}}', /the key 'item'/],
  ['an item that is text', '{"item":"a"}', /'item' is not an object/],
  ['an item that is a list', '{"item":[]}', /'item' is not an object/],
  ['a sample that is text', '{"item":{},"sample":"a"}', /'sample' is not an object/],
  ['another key', '{"item":{},"itme":{}}', /the key "itme" beside/],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), /UTF-8/],
  ['a number out of range', '{"item":{"a":1e999}}', /out of range/],
  ['a deep value', `{"item":{"a":${'['.repeat(rowDepthMax)}${']'.repeat(rowDepthMax)}}}`, /levels deep/],
  ['too many values', `{"item":{"a":[${'[],'.repeat(rowValuesMax)}1]}}`, /more than 20000 values/],
]

for (const [what, line, reason] of wrong) {
  test(`${what} is a reason that names the line`, () => {
    assert.match(reasonOf(line) ?? '', reason)
    assert.match(reasonOf(line) ?? '', /^Line 7: /)
  })
}

test('a line that was too long to be read says so', () => {
  const parsed = parseLine(null, 3)
  assert.match('error' in parsed ? parsed.error.message : '', /^Line 3: it is longer than \d+ bytes\.$/)
})
