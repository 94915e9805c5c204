import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEval, retrieveEval, type Eval } from '@switchyard/contracts/evals/evals.ts'
import { testApp } from '../../../../test/test-app.ts'
import { labelModel, scoreModel, stringCheck, ticketEval, ticketSchema } from '../testing/eval-bodies.ts'
import { schemaOfLogs } from '../domain/logs-schema.ts'

const uuid = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'

// S1-2.8-a S1-2.8-b S1-2.8-c S1-2.8-d S1-2.8-e S1-2.8-f S1-2.8-g S1-2.8-h S1-2.8-i S1-2.8-j S1-4.5-a S1-4.5-b
test('an eval is kept as it was described, with ids of its own', async (t) => {
  const app = await testApp(t)
  const before = Math.floor(Date.now() / 1_000)
  const reply = await app.call(createEval, { body: ticketEval })
  assert.equal(reply.status, 200, reply.text)
  const { id, created_at: createdAt, testing_criteria: criteria, data_source_config: config, ...rest } = reply.body
  assert.match(id, /^eval_[0-9a-z]{26}$/)
  assert.ok(Number.isInteger(createdAt) && createdAt >= before && createdAt <= Date.now() / 1_000)
  assert.deepEqual(rest, { object: 'eval', name: 'IT Ticket Categorization', metadata: {} })
  assert.equal(criteria.length, 1)
  const { sample, ...item } = (config.schema as { properties: Record<string, object> }).properties
  assert.deepEqual(config, {
    type: 'custom',
    schema: { type: 'object', properties: { item: ticketSchema, sample }, required: ['item', 'sample'] },
  })
  assert.deepEqual(item, { item: ticketSchema })
  assert.ok(JSON.stringify(sample).includes('output_text'))

  const read = await app.call(retrieveEval, { params: { eval_id: id } })
  assert.deepEqual([read.status, read.body], [200, reply.body])
})

// S1-2.8-k S1-2.8-l S1-2.8-n S1-2.8-p
test('each grader is given an id: its name and a UUID', async (t) => {
  const app = await testApp(t)
  const reply = await app.call(createEval, { body: { ...ticketEval, testing_criteria: [stringCheck, stringCheck] } })
  const [first, second] = reply.body.testing_criteria
  assert.ok(first !== undefined && second !== undefined)
  assert.notEqual(first.id, second.id)
  for (const { id, ...grader } of [first, second]) {
    assert.match(id, new RegExp(`^Match output to human label-${uuid}$`))
    assert.deepEqual(grader, stringCheck)
  }
})

test('messages of graders are shown in one form, and what was left out stays out', async (t) => {
  const app = await testApp(t)
  const criteria = [
    { ...labelModel, input: [{ role: 'developer', content: 'Be strict.' }, ...labelModel.input] },
    { ...scoreModel, range: [0, 10], pass_threshold: 7, sampling_params: { max_completion_tokens: 50, seed: 1 } },
    { type: 'text_similarity', name: 't', input: 'a', reference: 'b', evaluation_metric: 'bleu', pass_threshold: 0.5 },
    { type: 'python', name: 'p', source: 'def grade(sample, item):\n    return 1.0' },
  ]
  const reply = await app.call(createEval, { body: { ...ticketEval, testing_criteria: criteria } })
  assert.equal(reply.status, 200, reply.text)
  const message = (role: string, text: string) => ({ type: 'message', role, content: { type: 'input_text', text } })
  assert.deepEqual(
    reply.body.testing_criteria.map(({ id: _id, ...grader }) => grader),
    [
      {
        ...labelModel,
        input: [message('developer', 'Be strict.'), message('user', 'Label this: {{ sample.output_text }}')],
      },
      {
        ...criteria[1],
        input: [message('user', 'Judge this: {{ sample.output_text }}')],
        sampling_params: { max_completions_tokens: 50, seed: 1 },
      },
      criteria[2],
      criteria[3],
    ],
  )
})

test('evals over what was stored need no schema', async (t) => {
  const app = await testApp(t)
  for (const type of ['logs', 'stored_completions'] as const) {
    const config = { type, metadata: { usecase: 'chatbot', version: '2', paid: 'true' } }
    const criteria = [{ ...stringCheck, reference: '{{ item.input[0].content }}' }]
    const reply = await app.call(createEval, {
      body: {
        data_source_config: { type, metadata: { usecase: 'chatbot', version: 2, paid: true } },
        testing_criteria: criteria,
      },
    })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.body.data_source_config, { ...config, schema: schemaOfLogs() })
    assert.equal(reply.body.name, '')
  }
})

test('without a sample schema, the schema is that of the item', async (t) => {
  const app = await testApp(t)
  const config = { type: 'custom', item_schema: ticketSchema }
  const { body } = await app.call(createEval, { body: { ...ticketEval, data_source_config: config } })
  assert.deepEqual(body.data_source_config.schema, {
    type: 'object',
    properties: { item: ticketSchema },
    required: ['item'],
  } satisfies Eval['data_source_config']['schema'])
})

test('what no row could pass or fill is refused by its name', async (t) => {
  const app = await testApp(t)
  const closed = { ...ticketSchema, additionalProperties: false }
  const config = (item_schema: object) => ({ data_source_config: { type: 'custom', item_schema } })
  const criteria = (...testing_criteria: object[]) => ({ testing_criteria })
  const refusals: [change: object, status: number, code: string, param: string][] = [
    [
      { data_source_config: { type: 'logs', metadata: { usecase: { name: 'a' } } } },
      400,
      'invalid_type',
      'data_source_config.metadata.usecase',
    ],
    [config({ type: 'strange' }), 400, 'invalid_value', 'data_source_config.item_schema'],
    [
      config({ properties: { a: { $ref: 'https://a.example/b' } } }),
      400,
      'invalid_value',
      'data_source_config.item_schema',
    ],
    [
      { ...config(closed), ...criteria({ ...stringCheck, input: '{{ item.answer }}' }) },
      400,
      'invalid_value',
      'testing_criteria[0].input',
    ],
    [
      criteria(stringCheck, { ...stringCheck, reference: '{{ label }}' }),
      400,
      'invalid_value',
      'testing_criteria[1].reference',
    ],
    [
      criteria({ ...labelModel, input: [{ role: 'user', content: ['a', '{{ x }}'] }] }),
      400,
      'invalid_value',
      'testing_criteria[0].input[0].content[1]',
    ],
    [
      criteria({ ...labelModel, passing_labels: ['kind'] }),
      400,
      'invalid_value',
      'testing_criteria[0].passing_labels[0]',
    ],
    [criteria({ ...scoreModel, pass_threshold: 2 }), 400, 'invalid_value', 'testing_criteria[0].pass_threshold'],
    [criteria({ ...scoreModel, model: 'nobody' }), 404, 'model_not_found', 'testing_criteria[0].model'],
    [criteria(), 400, 'array_below_min_length', 'testing_criteria'],
    [
      criteria({ type: 'multi', name: 'm', graders: {}, calculate_output: '1' }),
      400,
      'invalid_value',
      'testing_criteria[0].type',
    ],
    [{ name: 'x'.repeat(257) }, 400, 'string_above_max_length', 'name'],
  ]
  for (const [change, status, code, param] of refusals) {
    const reply = await app.call(createEval, { body: { ...ticketEval, ...change } })
    assert.deepEqual([reply.status, reply.error?.code, reply.error?.param], [status, code, param], reply.text)
  }
})
