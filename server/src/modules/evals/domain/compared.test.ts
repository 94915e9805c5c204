import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { comparedTexts, scopeOfRow } from './compared.ts'
import { compileGrader } from './criteria.ts'

const check = (operation: 'eq' | 'ne' | 'like', input = '{{ sample.output_text }}') =>
  compileGrader({ type: 'string_check', name: 'c', input, reference: '{{ item.label }}', operation }, 'c')

const shown = (text: string) => ({
  input: [],
  output: [{ role: 'assistant', content: text }],
  finish_reason: 'stop',
  model: 'm',
  usage: null,
  error: null,
  temperature: null,
  max_completion_tokens: null,
  top_p: null,
  seed: null,
})

describe('what a criterion compared', () => {
  test('is found again from what was kept of a row', () => {
    const scope = scopeOfRow({ label: 'a red house' }, null, shown('a blue house'), true)
    assert.deepEqual(comparedTexts(check('eq'), scope, 100), {
      whole: true,
      should: 'equal',
      expected: 'a red house',
      got: 'a blue house',
      parts: [
        { kind: 'same', text: 'a ' },
        { kind: 'removed', text: 'red' },
        { kind: 'added', text: 'blue' },
        { kind: 'same', text: ' house' },
      ],
    })
  })

  test('is the output that the row brought where no model was asked', () => {
    const given = { output_text: '{"answer":"x"}', output_tools: [{ name: 't' }] }
    const scope = scopeOfRow({ label: 'x' }, given, shown('not this'), false)
    assert.equal(comparedTexts(check('eq', '{{ sample.output_json.answer }}'), scope, 100)?.got, 'x')
    assert.equal(comparedTexts(check('eq', '{{ sample.output_tools[0].name }}'), scope, 100)?.got, 't')
  })

  test('is not marked where a difference says nothing', () => {
    const scope = scopeOfRow({ label: 'red' }, null, shown('a red house'), true)
    const found = [comparedTexts(check('like'), scope, 100), comparedTexts(check('ne'), scope, 100)]
    assert.deepEqual(
      found.map((one) => [one?.should, one?.parts]),
      [
        ['contain', null],
        ['differ', null],
      ],
    )
  })

  test('is left out where it was not kept, and cut where it is long', () => {
    const scope = scopeOfRow({ label: 'x'.repeat(50) }, null, shown('y'), true)
    assert.equal(comparedTexts(check('eq', '{{ sample.output_tools[0].name }}'), scope, 100), null)
    assert.equal(comparedTexts(check('eq'), scopeOfRow({}, null, null, true), 100), null)
    const long = comparedTexts(check('eq'), scope, 10)
    assert.deepEqual([long?.expected, long?.whole], [`${'x'.repeat(10)}…`, false])
  })
})
