import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadRequestError, NotFoundError } from 'openai'
import { ticketEval as params } from './testing/ticket-eval.ts'
import { useDoubleStack } from './testing/use-double-stack.ts'

const { stack, double } = useDoubleStack()

test('an eval is made, read, renamed, listed and deleted with the SDK', async () => {
  const { client: open } = await stack().newProject('evals')
  const client = open()
  const made = await client.evals.create({ ...params, metadata: { team: 'it' } })
  assert.deepEqual([made.object, made.name, made.metadata], ['eval', params.name, { team: 'it' }])
  assert.match(made.id, /^eval_/)
  assert.deepEqual(await client.evals.retrieve(made.id), made)
  const renamed = await client.evals.update(made.id, { name: 'Tickets', metadata: {} })
  assert.deepEqual(renamed, { ...made, name: 'Tickets', metadata: {} })

  for (const name of ['two', 'three']) await client.evals.create({ ...params, name })
  const names: string[] = []
  for await (const one of client.evals.list({ limit: 1, order: 'asc', order_by: 'created_at' })) names.push(one.name)
  assert.deepEqual(names, ['Tickets', 'two', 'three'])
  const touched = await client.evals.list({ order: 'desc', order_by: 'updated_at' })
  assert.deepEqual(
    touched.data.map(({ name }) => name),
    ['three', 'two', 'Tickets'],
  )

  assert.deepEqual(await client.evals.delete(made.id), { object: 'eval.deleted', deleted: true, eval_id: made.id })
  await assert.rejects(client.evals.retrieve(made.id), NotFoundError)
})

test('deleting all runs and all evals while paging reaches every one', async () => {
  const { client: open } = await stack().newProject('emptied')
  const client = open()
  const moreThanAPage = Array.from({ length: 25 }, (_, at) => `${at}`)
  for (const name of moreThanAPage) await client.evals.create({ ...params, name })
  const [{ id: evalId } = { id: '' }] = (await client.evals.list({ limit: 1 })).data
  const item = { ticket_text: 'a', correct_label: 'b' }
  const content = [{ item, sample: { output_text: 'b' } }]
  for (const name of moreThanAPage) {
    await client.evals.runs.create(evalId, {
      name,
      data_source: { type: 'jsonl', source: { type: 'file_content', content } },
    })
  }
  const runs: string[] = []
  for await (const run of client.evals.runs.list(evalId)) {
    await client.evals.runs.delete(run.id, { eval_id: evalId })
    runs.push(run.name)
  }
  assert.deepEqual(runs, moreThanAPage)
  const evals: string[] = []
  for await (const one of client.evals.list()) {
    await client.evals.delete(one.id)
    evals.push(one.name)
  }
  assert.deepEqual(evals, moreThanAPage.toReversed())
})

test('every grader of the SDK is taken, and comes back with an id', async () => {
  const client = stack().project()
  const input = [
    { role: 'developer' as const, content: 'Judge.' },
    { role: 'user' as const, content: { type: 'input_text' as const, text: '{{ sample.output_text }}' } },
    { role: 'user' as const, content: ['{{ item.ticket_text }}', { type: 'output_text' as const, text: 'x' }] },
  ]
  const made = await client.evals.create({
    ...params,
    testing_criteria: [
      ...params.testing_criteria,
      { type: 'label_model', name: 'label', model: 'double-chat', input, labels: ['a', 'b'], passing_labels: ['a'] },
      {
        type: 'score_model',
        name: 'score',
        model: 'double-chat',
        input,
        range: [1, 5],
        pass_threshold: 4,
        sampling_params: { max_completions_tokens: 100, temperature: 0, reasoning_effort: 'low', seed: 1, top_p: 1 },
      },
      {
        type: 'text_similarity',
        name: 'similar',
        input: '{{ sample.output_text }}',
        reference: '{{ item.correct_label }}',
        evaluation_metric: 'rouge_l',
        pass_threshold: 0.8,
      },
      { type: 'python', name: 'python', source: 'def grade(sample, item):\n    return 1.0', image_tag: '2025-05-08' },
    ],
  })
  const names = made.testing_criteria.map((grader) => [grader.type, (grader as unknown as { id: string }).id])
  for (const [at, type] of ['string_check', 'label_model', 'score_model', 'text_similarity', 'python'].entries()) {
    assert.equal(names[at]?.[0], type)
    assert.match(names[at]?.[1] ?? '', /-[0-9a-f]{8}-[0-9a-f-]{27}$/)
  }
  const label = made.testing_criteria[1]
  assert.ok(label?.type === 'label_model')
  assert.deepEqual(label.input[0], {
    type: 'message',
    role: 'developer',
    content: { type: 'input_text', text: 'Judge.' },
  })
  await client.evals.delete(made.id)
})

test('graders are checked and run by themselves with the SDK', async () => {
  const { graders } = stack().project().fineTuning.alpha
  const grader = {
    type: 'string_check',
    name: 'same',
    input: '{{ sample.output_text }}',
    reference: '{{ item.answer }}',
    operation: 'ilike',
  } as const
  assert.deepEqual(await graders.validate({ grader }), { grader })
  const ran = await graders.run({ grader, model_sample: 'It is BLUE.', item: { answer: 'blue' } })
  assert.deepEqual([ran.reward, ran.metadata.errors.other_error], [1, false])

  double().queue('{"reasoning": "good", "result": 0.5}')
  const score = {
    type: 'score_model',
    name: 's',
    model: 'double-chat',
    input: [{ role: 'user', content: 'Judge.' }],
  } as const
  const scored = await graders.run({ grader: { ...score, input: [...score.input] }, model_sample: 'x' })
  assert.equal(scored.reward, 0.5)
  assert.ok((scored.metadata.token_usage ?? 0) > 0)

  const refused = graders.validate({ grader: { ...grader, input: '{{ nothing }}' } })
  await assert.rejects(refused, (error) => error instanceof BadRequestError && error.param === 'grader.input')
})
