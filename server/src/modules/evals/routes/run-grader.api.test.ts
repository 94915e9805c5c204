import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  runGrader,
  validateGrader,
  type GraderErrors,
  type GraderRun,
} from '@switchyard/contracts/evals/grader-runs.ts'
import { snapshotOf } from '../../../../test/double-models.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { labelModel, scoreModel, stringCheck } from '../testing/eval-bodies.ts'

const check = { ...stringCheck, input: '{{ sample.output_text }}', reference: '{{ item.answer }}' }
const similarity = {
  type: 'text_similarity',
  name: 'close',
  input: '{{ sample.output_text }}',
  reference: '{{ item.answer }}',
  evaluation_metric: 'fuzzy_match',
}

async function run(
  app: TestApp,
  grader: object,
  more: { model_sample?: string; item?: unknown } = {},
): Promise<GraderRun> {
  const body = { grader, model_sample: 'blue', item: { answer: 'blue' }, ...more }
  const reply = await app.call(runGrader, { body })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** The flags that stand, and what they say. */
const flagged = ({ metadata: { errors } }: GraderRun) =>
  Object.fromEntries(
    Object.entries(errors).filter(([, value]) => value !== false && value !== null),
  ) as Partial<GraderErrors>

test('a grader says what one output is worth', async (t) => {
  const app = await testApp(t)
  const { metadata, ...rest } = await run(app, check)
  assert.deepEqual(rest, { reward: 1, sub_rewards: {}, model_grader_token_usage_per_model: {} })
  const { execution_time: seconds, errors, ...about } = metadata
  assert.deepEqual(about, {
    name: check.name,
    type: 'string_check',
    scores: {},
    token_usage: null,
    sampled_model_name: null,
  })
  assert.ok(seconds >= 0 && seconds < 60)
  assert.equal(Object.keys(errors).length, 14)
  assert.deepEqual(flagged({ metadata, ...rest }), {})

  assert.equal((await run(app, check, { model_sample: 'red' })).reward, 0)
  assert.equal((await run(app, similarity)).reward, 1)
  const json = { ...check, input: '{{ sample.output_json.colour }}' }
  assert.equal((await run(app, json, { model_sample: '{"colour": "blue"}' })).reward, 1)
})

test('a model gives a score, and what it used is told and charged', async (t) => {
  const app = await testApp(t)
  app.double.queue({ text: '{"reasoning": "fine", "result": 0.75}', usage: { input: 30, output: 12 } })
  const result = await run(app, scoreModel)
  assert.deepEqual([result.reward, flagged(result)], [0.75, {}])
  const model = snapshotOf('double-chat')
  assert.deepEqual(result.model_grader_token_usage_per_model, {
    [model]: { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42, cached_tokens: 0 },
  })
  assert.deepEqual([result.metadata.token_usage, result.metadata.sampled_model_name], [42, model])
  assert.match(JSON.stringify(app.double.requests.at(-1)?.body), /Judge this: blue/)
})

test('several graders become one reward by a formula', async (t) => {
  const app = await testApp(t)
  app.double.queue('{"reasoning": "", "result": "polite"}')
  const multi = {
    type: 'multi',
    name: 'all',
    graders: { same: check, near: similarity, tone: labelModel },
    calculate_output: '0.5 * same + 0.25 * near + max(tone, 0) ** 2',
  }
  const result = await run(app, multi)
  assert.deepEqual([result.reward, flagged(result)], [1.75, {}])
  assert.deepEqual(result.sub_rewards, { same: 1, near: 1, tone: 1 })
  assert.deepEqual(result.metadata.scores, result.sub_rewards)

  const alone = await run(app, {
    type: 'multi',
    name: 'one',
    graders: { ...check, name: 'x' },
    calculate_output: 'x + 1',
  })
  assert.equal(alone.reward, 2)
})

test('a grader that comes to no score says why in a flag of its own', async (t) => {
  const app = await testApp(t)
  const variable = await run(app, check, { item: {} })
  assert.deepEqual([variable.reward, flagged(variable)], [0, { invalid_variable_error: true }])
  const sample = await run(app, { ...check, input: '{{ sample.output_json.a }}' })
  assert.deepEqual(flagged(sample), { sample_parse_error: true })

  app.double.queue('I would rather not say.')
  assert.deepEqual(flagged(await run(app, scoreModel)), { model_grader_parse_error: true })
  app.double.queue('{"result": 5}')
  assert.deepEqual(flagged(await run(app, scoreModel)), { model_grader_parse_error: true })
  const formula = { type: 'multi', name: 'm', graders: { a: check }, calculate_output: '1 / (a - 1)' }
  const divided = await run(app, formula)
  assert.deepEqual(
    [divided.reward, flagged(divided), divided.sub_rewards],
    [0, { formula_parse_error: true }, { a: 1 }],
  )

  app.double.decide(() => ({ status: 503 }))
  const server = flagged(await run(app, scoreModel))
  assert.equal(server.model_grader_server_error, true)
  assert.ok((server.model_grader_server_error_details ?? '').length > 10)
})

test('a grader that could not grade is refused, run or only checked', async (t) => {
  const app = await testApp(t)
  const multi = { type: 'multi', name: 'm', graders: { a: check, b: similarity }, calculate_output: 'a + b' }
  const refusals: [grader: object, status: number, code: string, param: string][] = [
    [{ ...multi, calculate_output: 'a +' }, 400, 'invalid_value', 'grader.calculate_output'],
    [{ ...multi, calculate_output: 'a + c' }, 400, 'invalid_value', 'grader.calculate_output'],
    [{ ...multi, graders: { min: check }, calculate_output: '1' }, 400, 'invalid_value', 'grader.graders.min'],
    [{ ...check, input: '{{ answer }}' }, 400, 'invalid_value', 'grader.input'],
    [
      { ...multi, graders: { a: { ...check, reference: '{{ x }}' } }, calculate_output: 'a' },
      400,
      'invalid_value',
      'grader.graders.a.reference',
    ],
    [{ ...scoreModel, model: 'nobody' }, 404, 'model_not_found', 'grader.model'],
    [
      { ...multi, graders: { a: { ...labelModel, model: 'nobody' } }, calculate_output: 'a' },
      404,
      'model_not_found',
      'grader.graders.a.model',
    ],
    [labelModel, 400, 'invalid_value', 'grader.type'],
    [{ ...check, operation: 'is' }, 400, 'invalid_value', 'grader.operation'],
  ]
  for (const [grader, status, code, param] of refusals) {
    const ran = await app.call(runGrader, { body: { grader, model_sample: '' } })
    assert.deepEqual([ran.status, ran.error.code, ran.error.param], [status, code, param], ran.text)
    const checked = await app.call(validateGrader, { body: { grader } })
    assert.deepEqual([checked.status, checked.error.code, checked.error.param], [status, code, param], checked.text)
  }
})

test('a grader that is in order is shown as it will be used', async (t) => {
  const app = await testApp(t)
  const graders = { a: check, b: { ...scoreModel, sampling_params: { max_completion_tokens: 9 } } }
  const multi = { type: 'multi', name: 'm', graders, calculate_output: 'a * b' }
  const { body } = await app.call(validateGrader, { body: { grader: multi } })
  const content = { type: 'input_text', text: scoreModel.input[0].content }
  const shown = { ...scoreModel, input: [{ type: 'message', role: 'user', content }] }
  assert.deepEqual(body.grader, {
    ...multi,
    graders: { a: check, b: { ...shown, sampling_params: { max_completions_tokens: 9 } } },
  })
})
