import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeclaredTools } from '../../domain/declared-tools.ts'
import type { FinishReason } from '../../domain/turn.ts'
import { callsOf, turn } from '../../testing/turns.ts'
import { AnswerParts } from '../answer-parts.ts'
import { ChatReader } from './chat-reader.ts'

function read(deltas: readonly object[], finish: FinishReason | 'tool_calls' = 'tool_calls') {
  const tools = new DeclaredTools([{ type: 'shell' }])
  const parts = new AnswerParts(turn('any', { topLogprobs: 1 }), tools)
  const reader = new ChatReader(parts, true)
  for (const delta of deltas) reader.accept({ choices: [{ delta }] })
  reader.accept({ choices: [{ delta: {}, finish_reason: finish }] })
  parts.finish()
  return parts.take()
}

const called = (name: string, text: string) => ({ type: 'function', name, arguments: text })
const piece = (name: string | undefined, text: string, more: object = {}) => ({
  ...more,
  function: { ...(name === undefined ? {} : { name }), arguments: text },
})

const oddities: [string, object[]][] = [
  [
    'numbered',
    [
      [piece('f', '{"a"', { index: 0, id: 'x' })],
      [piece(undefined, ':1}', { index: 0 })],
      [piece('g', '{}', { index: 1, id: 'y' })],
    ],
  ],
  ['not numbered', [[piece('f', '{"a"', { id: 'x' })], [piece(undefined, ':1}')], [piece('g', '{}', { id: 'y' })]]],
  ['all numbered 0', [[piece('f', '{"a":1}', { index: 0, id: 'x' })], [piece('g', '{}', { index: 0, id: 'y' })]]],
  ['whole in one chunk', [[piece('f', '{"a":1}', { index: 0 }), piece('g', '{}', { index: 1 })]]],
  ['with line ends between', [[piece('f', '{"a":1}', { index: 0 })], [piece('g', '{}', { index: 1 })]]],
]
for (const [how, calls] of oddities) {
  test(`calls are told apart when they come ${how}`, () => {
    const deltas = calls.flatMap((tool_calls) => [{ content: how.startsWith('with') ? '\n\n' : '', tool_calls }])
    assert.deepEqual(callsOf(read(deltas)), [called('f', '{"a":1}'), called('g', '{}')])
  })
}

test('arguments that a server sends as an object are read as JSON', () => {
  const call = { index: 0, function: { name: 'f', arguments: { a: 1 } } }
  assert.deepEqual(callsOf(read([{ tool_calls: [call] }])), [called('f', '{"a":1}')])
})

test('a shell call that the token limit cut in two is no call, and the turn still ends', () => {
  const parts = read([{ content: 'Well.' }, { tool_calls: [piece('shell', '{"comm', { index: 0 })] }], 'length')
  assert.deepEqual(callsOf(parts), [])
  const last = parts.at(-1)
  assert.equal(last?.type === 'finish' && last.reason, 'length')
})

test('logprobs come with the text they belong to', () => {
  const parts = new AnswerParts(turn('any'), new DeclaredTools([]))
  const reader = new ChatReader(parts, true)
  const content = [{ token: 'a', logprob: -1, bytes: null, top_logprobs: [{ token: 'b', logprob: -2, bytes: [98] }] }]
  reader.accept({ choices: [{ delta: { content: 'a' }, logprobs: { content } }] })
  assert.deepEqual(parts.take(), [
    {
      type: 'text',
      delta: 'a',
      logprobs: [{ token: 'a', logprob: -1, top_logprobs: [{ token: 'b', logprob: -2, bytes: [98] }] }],
    },
  ])
})

test('a piece of a call that never began is malformed', () => {
  assert.throws(() => read([{ tool_calls: [piece(undefined, '{}', { index: 0 })] }]), { kind: 'malformed' })
})
