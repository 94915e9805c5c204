import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotFoundError, toFile, type OpenAI } from 'openai'
import type { RunCreateParams, RunRetrieveResponse } from 'openai/resources/evals/runs/runs'
import { openSink } from '#modules/webhooks/testing/sink.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { snapshotOf } from '../../server/test/double-models.ts'
import { ticketEval as evalParams } from './testing/ticket-eval.ts'
import { useDoubleStack } from './testing/use-double-stack.ts'

const { stack, double } = useDoubleStack()
const boundMs = 60_000

const tickets = [
  { ticket_text: "My monitor won't turn on!", correct_label: 'Hardware' },
  { ticket_text: "I'm in vim and I can't quit!", correct_label: 'Software' },
  { ticket_text: 'Best restaurants in Cleveland?', correct_label: 'Other' },
]

const instructions = 'Categorize this IT support ticket into Hardware, Software, or Other.'

async function upload(client: OpenAI): Promise<string> {
  const lines = tickets.map((item) => `${JSON.stringify({ item })}\n`).join('')
  const file = await client.files.create({ file: await toFile(Buffer.from(lines), 'tickets.jsonl'), purpose: 'evals' })
  return file.id
}

const responsesRun = (source: RunCreateParams.CreateEvalResponsesRunDataSource['source']): RunCreateParams => ({
  name: 'Categorization text run',
  data_source: {
    type: 'responses',
    model: 'double-chat',
    input_messages: {
      type: 'template',
      template: [
        { role: 'developer', content: instructions },
        { role: 'user', content: '{{ item.ticket_text }}' },
      ],
    },
    source,
  },
})

async function ended(client: OpenAI, { id, eval_id }: { id: string; eval_id: string }): Promise<RunRetrieveResponse> {
  const read = () => client.evals.runs.retrieve(id, { eval_id })
  const over = async () => /completed|failed|canceled/.test((await read()).status)
  assert.ok(await becomesTrue(over, boundMs), `${id} ends: ${JSON.stringify(await read())}`)
  return await read()
}

/** Two of three tickets get the label that a person gave them. */
function labelTickets(): void {
  double().decide((body) => (JSON.stringify(body).includes('Cleveland') ? 'Hardware' : labelOf(JSON.stringify(body))))
}
const labelOf = (asked: string) => tickets.find(({ ticket_text: text }) => asked.includes(text))?.correct_label ?? '?'

// S1-1.5-a S1-2.8-s S1-2.8-t S1-2.8-u S1-2.8-v S1-2.8-w S1-2.8-x S1-2.8-y S1-2.8-z S1-2.8-aa S1-2.8-ab S1-2.8-ac
// S1-2.8-ad S1-2.8-ae S1-2.8-af S1-2.8-ag S1-2.8-ah S1-2.8-ai S1-2.8-aj S1-3-h S1-3-i S1-3-j S1-6-a
// S1-4.6-a S1-4.6-b S1-4.6-c S1-4.6-d S1-4.6-e S1-4.6-f S1-4.6-g S1-4.6-h S1-4.6-i S1-4.6-j S1-4.7-a S1-4.7-b
test('the example of the guide runs to the letter: schema, file, run, poll, counts, usage, webhook', async (t) => {
  labelTickets()
  const client = (await stack().newProject('guide')).client()
  const sink = await openSink()
  t.after(() => sink.close())
  const { signing_secret: secret } = await client.webhooks.create({
    name: 'Runs',
    url: `${sink.url}/hook`,
    event_types: ['eval.run.succeeded', 'eval.run.failed', 'eval.run.canceled'],
  })
  const made = await client.evals.create(evalParams)
  const fileId = await upload(client)
  const run = await client.evals.runs.create(made.id, responsesRun({ type: 'file_id', id: fileId }))
  const { id, created_at: createdAt, report_url: reportUrl, ...rest } = run
  assert.match(id, /^evalrun_[0-9a-z]{26}$/)
  assert.ok(Number.isInteger(createdAt))
  assert.ok(new URL(reportUrl).pathname.endsWith(id))
  const message = (role: string, text: string) => ({ type: 'message', role, content: { type: 'input_text', text } })
  const created = {
    object: 'eval.run',
    eval_id: made.id,
    name: 'Categorization text run',
    model: 'double-chat',
    status: 'queued',
    result_counts: { total: 0, errored: 0, failed: 0, passed: 0 },
    per_model_usage: null,
    per_testing_criteria_results: null,
    data_source: {
      type: 'responses',
      model: 'double-chat',
      input_messages: {
        type: 'template',
        template: [message('developer', instructions), message('user', '{{ item.ticket_text }}')],
      },
      source: { type: 'file_id', id: fileId },
      sampling_params: null,
    },
    error: null,
    metadata: {},
  }
  assert.deepEqual(rest, created)

  const done = await ended(client, run)
  const [usage] = done.per_model_usage
  const [criterion] = done.per_testing_criteria_results
  assert.ok(usage !== undefined && criterion !== undefined)
  assert.deepEqual(done, {
    ...created,
    id,
    created_at: createdAt,
    report_url: reportUrl,
    status: 'completed',
    result_counts: { total: 3, errored: 0, failed: 1, passed: 2 },
    per_model_usage: [
      {
        ...usage,
        model_name: snapshotOf('double-chat'),
        invocation_count: 3,
        total_tokens: usage.prompt_tokens + usage.completion_tokens,
        cached_tokens: 0,
      },
    ],
    per_testing_criteria_results: [{ ...criterion, passed: 2, failed: 1 }],
  })
  assert.ok(usage.prompt_tokens > 0 && usage.completion_tokens > 0)
  assert.match(criterion.testing_criteria, /^Match output to human label-[0-9a-f-]{36}$/)

  assert.ok(await becomesTrue(() => sink.received.length > 0, boundMs), 'the webhook arrives')
  const [received] = sink.received
  const event = await client.webhooks.unwrap(received?.body ?? '', received?.headers ?? {}, secret)
  assert.deepEqual([event.type, event.data], ['eval.run.succeeded', { ...event.data, id }])
  assert.equal(sink.received.length, 1)
})

test('what became of each row is listed, filtered and read', async () => {
  labelTickets()
  const client = stack().project()
  const made = await client.evals.create(evalParams)
  const run = await client.evals.runs.create(made.id, responsesRun({ type: 'file_id', id: await upload(client) }))
  await ended(client, run)
  const place = { eval_id: made.id }
  const outcomes: unknown[] = []
  for await (const item of client.evals.runs.outputItems.list(run.id, { ...place, limit: 1 })) {
    outcomes.push([item.datasource_item_id, item.status, item.datasource_item, item.sample.output[0]?.content])
  }
  assert.deepEqual(outcomes, [
    [0, 'pass', tickets[0], 'Hardware'],
    [1, 'pass', tickets[1], 'Software'],
    [2, 'fail', tickets[2], 'Hardware'],
  ])
  const failed = await client.evals.runs.outputItems.list(run.id, { ...place, status: 'fail' })
  const [only] = failed.data
  assert.ok(only !== undefined && failed.data.length === 1)
  const item = await client.evals.runs.outputItems.retrieve(only.id, { ...place, run_id: run.id })
  assert.deepEqual(item, only)
  assert.deepEqual([item.object, item.run_id, item.eval_id], ['eval.run.output_item', run.id, made.id])
  assert.deepEqual(
    item.results.map(({ type, passed, score }) => [type, passed, score]),
    [['string_check', false, 0]],
  )
  assert.deepEqual(item.sample.input, [
    { role: 'developer', content: instructions },
    { role: 'user', content: tickets[2]?.ticket_text },
  ])
  assert.deepEqual([item.sample.model, item.sample.finish_reason], [snapshotOf('double-chat'), 'stop'])
})

// S1-3-g S1-4.7-c S1-4.7-d
test('runs are listed by their status, and deleted; under another eval they are not there', async () => {
  const client = (await stack().newProject('lists')).client()
  const content = [{ item: tickets[0] as Record<string, unknown>, sample: { output_text: 'Hardware' } }]
  const made = await client.evals.create(evalParams)
  const start = (name: string) =>
    client.evals.runs.create(made.id, {
      name,
      data_source: { type: 'jsonl', source: { type: 'file_content', content } },
    })
  const runs = [await start('one'), await start('two')]
  for (const run of runs) await ended(client, run)
  const names: string[] = []
  for await (const run of client.evals.runs.list(made.id, { limit: 1, status: 'completed' })) names.push(run.name)
  assert.deepEqual(names, ['one', 'two'])
  assert.deepEqual((await client.evals.runs.list(made.id, { status: 'failed' })).data, [])

  const [first] = runs
  assert.ok(first !== undefined)
  const other = await client.evals.create(evalParams)
  await assert.rejects(client.evals.runs.retrieve(first.id, { eval_id: other.id }), NotFoundError)
  const missing = responsesRun({ type: 'file_id', id: 'file-none' })
  await assert.rejects(
    client.evals.runs.create(made.id, missing),
    (error) => error instanceof NotFoundError && error.param === 'data_source.source.id',
  )
  assert.equal((await client.evals.runs.list(made.id)).data.length, 2)

  const gone = await client.evals.runs.delete(first.id, { eval_id: made.id })
  assert.deepEqual(gone, { object: 'eval.run.deleted', deleted: true, run_id: first.id })
  await assert.rejects(client.evals.runs.retrieve(first.id, { eval_id: made.id }), NotFoundError)
})

// S1-3-k S1-6-c
test('a run is canceled, in the way of this SDK and of older ones, and stays so', async () => {
  const client = stack().project()
  const made = await client.evals.create(evalParams)
  const fileId = await upload(client)
  const place = { eval_id: made.id }
  const answers: (() => void)[] = []
  double().decide(async () => {
    await new Promise<void>((resolve) => void answers.push(resolve))
    return 'Hardware'
  })
  const cancels = {
    'this SDK': (id: string) => client.evals.runs.cancel(id, place),
    'older ones': (id: string) => client.post<RunRetrieveResponse>(`/evals/${made.id}/runs/${id}`),
  }
  try {
    for (const [way, cancel] of Object.entries(cancels)) {
      const run = await client.evals.runs.create(made.id, responsesRun({ type: 'file_id', id: fileId }))
      assert.equal((await cancel(run.id)).status, 'canceled', way)
      assert.equal((await cancel(run.id)).status, 'canceled', way)
      assert.equal((await client.evals.runs.retrieve(run.id, place)).status, 'canceled', way)
    }
  } finally {
    for (const answer of answers) answer()
    labelTickets()
  }
})

test('every source of the SDK is read', async () => {
  labelTickets()
  const client = (await stack().newProject('sources')).client()
  const made = await client.evals.create(evalParams)
  const content = tickets.map((item) => ({ item, sample: { output_text: 'Hardware' } }))
  const source = { type: 'file_content', content } as const
  const [template] = [responsesRun(source).data_source]
  assert.ok(template?.type === 'responses')
  const { input_messages: messages } = template
  const counts = async (evalId: string, data_source: RunCreateParams['data_source']) => {
    const { status, result_counts: counted } = await ended(
      client,
      await client.evals.runs.create(evalId, { data_source }),
    )
    return [status, counted.passed, counted.failed, counted.errored]
  }
  assert.deepEqual(await counts(made.id, { type: 'jsonl', source }), ['completed', 1, 2, 0])
  assert.deepEqual(await counts(made.id, template), ['completed', 2, 1, 0])
  const sampling_params = { temperature: 0, max_completion_tokens: 50, seed: 1, top_p: 1 }
  assert.deepEqual(
    await counts(made.id, {
      type: 'completions',
      model: 'double-chat',
      input_messages: messages as never,
      source,
      sampling_params,
    }),
    ['completed', 2, 1, 0],
  )

  double().decide(() => 'Stored.')
  const metadata = { kept: 'yes' }
  await client.responses.create({ model: 'double-chat', input: 'One.', metadata })
  await client.chat.completions.create({
    model: 'double-chat',
    messages: [{ role: 'user', content: 'Two.' }],
    store: true,
    metadata,
  })
  const criterion = {
    type: 'string_check' as const,
    name: 'stored',
    input: '{{ sample.output_text }}',
    operation: 'eq' as const,
    reference: 'Stored.',
  }
  const logs = await client.evals.create({
    data_source_config: { type: 'logs', metadata },
    testing_criteria: [criterion],
  })
  assert.deepEqual(await counts(logs.id, { type: 'responses', source: { type: 'responses', metadata } }), [
    'completed',
    1,
    0,
    0,
  ])
  assert.deepEqual(
    await counts(logs.id, { type: 'completions', source: { type: 'stored_completions', metadata, limit: 5 } }),
    ['completed', 1, 0, 0],
  )
})
