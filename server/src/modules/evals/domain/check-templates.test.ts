import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CreateTestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import { Fault } from '#platform/errors/fault.ts'
import { checkTemplates, templatesOfGrader, type Known } from './check-templates.ts'

const itemSchema = {
  type: 'object',
  properties: {
    question: { type: 'string' },
    open: { type: 'object' },
    closed: { type: 'object', properties: { a: {} }, additionalProperties: false },
    list: { type: 'array', items: { type: 'object', properties: {}, additionalProperties: false } },
  },
  additionalProperties: false,
}

const check = (text: string, known: Partial<Known> = {}) =>
  checkTemplates([{ text, param: 'here' }], { itemSchema, sample: true, ...known })

const refuses = (text: string, message: RegExp, known: Partial<Known> = {}) =>
  assert.throws(
    () => check(text, known),
    (error) =>
      error instanceof Fault && error.code === 'invalid_value' && error.param === 'here' && message.test(error.message),
  )

test('a template may refer to what the schema of the items describes, and to the sample', () => {
  for (const path of ['question', 'open.anything', 'closed.a.b', 'list[0].x', 'list.0']) check(`{{ item.${path} }}`)
  check('{{ item }} {{ sample.output_text }} {{ sample.output_json.a }}')
  check('no variables, {{ and open braces')
})

test('what no row could fill is refused', () => {
  refuses('{{ item.answer }}', /'answer', which the item schema does not have/)
  refuses('ok {{ item.question }} {{ item.closed.b.c }}', /'b'/)
  refuses('{{ item.constructor }}', /constructor/)
  refuses('{{ question }}', /is no variable/)
  refuses('{{ items.question }}', /is no variable/)
  refuses('{{ item question }}', /is no variable/)
  refuses('{{ }}', /is no variable/)
  refuses('{{ sample.output_text }}', /before there is one/, { sample: false })
})

test('a schema that leaves room leaves it to the rows', () => {
  for (const schema of [
    { type: 'object', properties: {} },
    { properties: {}, additionalProperties: { type: 'string' } },
    { properties: {}, additionalProperties: false, patternProperties: { '^a': {} } },
    { $ref: '#/$defs/x', additionalProperties: false },
    {},
  ]) {
    check('{{ item.a }}', { itemSchema: schema })
  }
  check('{{ item.anything }}', { itemSchema: null })
  refuses('{{ item.a }}', /'a'/, { itemSchema: { additionalProperties: false } })
})

test('a grader is told where its template stands', () => {
  const input = [
    { role: 'developer', content: 'one' },
    { role: 'user', content: ['two', { type: 'input_image', image_url: '{{ item.picture }}' }] },
  ]
  const label = { type: 'label_model', name: 'l', model: 'm', input, labels: ['a'], passing_labels: ['a'] }
  assert.deepEqual(
    [...templatesOfGrader(CreateTestingCriterion.parse(label), 'grader')],
    [
      { text: 'one', param: 'grader.input[0].content' },
      { text: 'two', param: 'grader.input[1].content[0]' },
      { text: '{{ item.picture }}', param: 'grader.input[1].content[1]' },
    ],
  )
  const text = { type: 'string_check', name: 's', input: 'x', reference: 'y', operation: 'eq' }
  assert.deepEqual(
    [...templatesOfGrader(CreateTestingCriterion.parse(text), 'grader')],
    [
      { text: 'x', param: 'grader.input' },
      { text: 'y', param: 'grader.reference' },
    ],
  )
})
