import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RowError } from './row-error.ts'
import { labelOf, scoreOf } from './model-verdict.ts'
import { sampleOfChat } from './sample.ts'

const said = (content: string) =>
  sampleOfChat({
    id: 'c',
    object: 'chat.completion',
    created: 0,
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', logprobs: null, message: { role: 'assistant', content } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })

const scores = [
  ['{"reasoning":"good","result":0.75}', 0.75],
  ['{"result":"0.5"}', 0.5],
  ['1', 1],
  [' 0.25 ', 0.25],
] as const
for (const [text, score] of scores) {
  test(`a grader's model that says ${text} gives ${score}`, () => assert.equal(scoreOf(said(text), [0, 1]), score))
}

for (const text of ['', 'good', '{}', '{"result":null}', '{"result":"high"}', '[1]', '{"result":1e999}', 'NaN']) {
  test(`a grader's model that says ${JSON.stringify(text)} gives no score, and the row says what it said`, () => {
    assert.throws(() => scoreOf(said(text), [0, 1]), { name: 'RowError', code: 'model_grader_parse_error' })
  })
}

test('a score outside of the range is not bent into it', () => {
  assert.throws(() => scoreOf(said('{"result":7}'), [0, 5]), /gave 7; the range is 0 to 5/)
  assert.equal(scoreOf(said('{"result":5}'), [0, 5]), 5)
})

test('a label is one of those that were given', () => {
  const labels = ['good', 'bad']
  assert.equal(labelOf(said('{"result":"bad"}'), labels), 'bad')
  assert.equal(labelOf(said('good'), labels), 'good')
  for (const text of ['Good', '{"result":"fair"}', '', '{"label":"good"}', '{"__proto__":{"result":"good"}}']) {
    assert.throws(() => labelOf(said(text), labels), RowError)
  }
})
