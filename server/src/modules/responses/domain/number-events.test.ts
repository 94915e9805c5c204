import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventNumbers, obfuscated } from './number-events.ts'

const delta = {
  type: 'response.output_text.delta' as const,
  item_id: 'msg_1',
  output_index: 0,
  content_index: 0,
  delta: 'a',
  logprobs: [],
}

test('numbers go up by one, and deltas are padded when that was asked for', () => {
  const plain = new EventNumbers(4, false)
  assert.deepEqual([plain.number(delta).sequence_number, plain.number(delta).sequence_number, plain.next], [4, 5, 6])
  assert.equal(plain.number(delta).obfuscation, undefined)
  assert.match(new EventNumbers(0, true).number(delta).obfuscation ?? '', /^.{1,16}$/)
})

test('a stored delta is padded on its way out, once, and nothing else is', () => {
  const padded = obfuscated(delta.type, JSON.stringify(delta))
  const { obfuscation, ...rest } = JSON.parse(padded) as typeof delta & { obfuscation: string }
  assert.match(obfuscation, /^.{1,16}$/)
  assert.deepEqual(rest, delta)
  assert.equal(obfuscated(delta.type, padded), padded)
  assert.equal(obfuscated('response.completed', '{}'), '{}')
})
