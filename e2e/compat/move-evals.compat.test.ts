import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { toFile, type OpenAI } from 'openai'
import type { EvalCreateParams } from 'openai/resources/evals/evals'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { useDoubleStack } from './testing/use-double-stack.ts'

const { stack, double } = useDoubleStack()
const script = fileURLToPath(new URL('../../docs/examples/move-evals.ts', import.meta.url))
const boundMs = 60_000

const similar = {
  type: 'text_similarity' as const,
  name: 'near',
  input: '{{ sample.output_text }}',
  reference: '{{ item.label }}',
  pass_threshold: 0.5,
}
const params: EvalCreateParams = {
  name: 'Tickets',
  metadata: { team: 'it' },
  data_source_config: {
    type: 'custom',
    item_schema: { type: 'object', properties: { label: { type: 'string' }, note: { type: ['string', 'null'] } } },
    include_sample_schema: true,
  },
  testing_criteria: [
    {
      type: 'string_check',
      name: 'same',
      input: '{{ sample.output_text }}',
      operation: 'eq',
      reference: '{{ item.label }}',
    },
    { ...similar, evaluation_metric: 'cosine' },
    {
      type: 'score_model',
      name: 'judge',
      model: 'double-chat',
      input: [{ role: 'user', content: 'Score {{ sample.output_text }}' }],
      range: [0, 10],
    },
  ],
}
const rows = ['Hardware', 'Software', 'Other'].map((label) => ({ item: { label, note: null } }))

interface Place {
  readonly key: string
  readonly url?: string
}

interface Side extends Place {
  readonly client: OpenAI
}

async function sideOf(name: string): Promise<Side> {
  const { key, client } = await stack().newProject(name)
  return { key, client: client() }
}

async function move(from: Place, to: Side, ...args: string[]): Promise<{ code: number; said: string }> {
  const { baseURL } = stack()
  const env = {
    PATH: process.env['PATH'],
    FROM_BASE_URL: from.url ?? baseURL,
    FROM_API_KEY: from.key,
    TO_BASE_URL: baseURL,
    TO_API_KEY: to.key,
  }
  return await new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { env, timeout: boundMs }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr })
    })
  })
}

async function upload(client: OpenAI): Promise<string> {
  const content = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  return (await client.files.create({ file: await toFile(Buffer.from(content), 'rows.jsonl'), purpose: 'evals' })).id
}

/** A run of a model over a file, to its end. */
async function runOf(client: OpenAI, evalId: string, fileId: string): Promise<string> {
  const { id } = await client.evals.runs.create(evalId, {
    name: 'nightly',
    metadata: { n: '1' },
    data_source: {
      type: 'responses',
      model: 'double-chat',
      input_messages: { type: 'template', template: [{ role: 'user', content: '{{ item.label }}' }] },
      sampling_params: { temperature: 0.5 },
      source: { type: 'file_id', id: fileId },
    },
  })
  await ended(client, evalId, id)
  return id
}

async function ended(client: OpenAI, evalId: string, id: string) {
  const read = async () => await client.evals.runs.retrieve(id, { eval_id: evalId })
  assert.ok(await becomesTrue(async () => (await read()).status === 'completed', boundMs), `${id} completes`)
  return await read()
}

const listEvals = async ({ client }: Side) => (await client.evals.list({ order: 'asc' })).data
const listRuns = async ({ client }: Side, evalId: string) => (await client.evals.runs.list(evalId)).data

/** What is the same wherever it is. */
const bare = (one: OpenAI.EvalListResponse) => ({
  name: one.name,
  config: one.data_source_config,
  criteria: one.testing_criteria.map((grader) => ({ ...grader, id: '' })),
})

test('an eval and its latest run move to another server with their data, once', async () => {
  double().decide((body) => (JSON.stringify(body).includes('Score ') ? '{"reasoning": "so", "result": 9}' : 'Hardware'))
  const [from, to] = [await sideOf('old'), await sideOf('new')]
  const { id } = await from.client.evals.create(params)
  const runId = await runOf(from.client, id, await upload(from.client))

  const dry = await move(from, to, '--dry-run')
  assert.equal(dry.code, 0, dry.said)
  assert.match(dry.said, /would be made/)
  assert.deepEqual(await listEvals(to), [])

  const moved = await move(from, to)
  assert.equal(moved.code, 0, moved.said)
  assert.match(moved.said, /"near": cosine counts words here/)
  const [[old], [made]] = [await listEvals(from), await listEvals(to)]
  assert.ok(old !== undefined && made !== undefined)
  assert.deepEqual([bare(made), made.metadata], [bare(old), { team: 'it', moved_from: id }])
  const [run] = await listRuns(to, made.id)
  assert.ok(run !== undefined)
  assert.deepEqual([run.name, run.metadata], ['nightly', { n: '1', moved_from: runId }])
  const before = await from.client.evals.runs.retrieve(runId, { eval_id: id })
  const after = await ended(to.client, made.id, run.id)
  assert.deepEqual(after.result_counts, before.result_counts)
  assert.deepEqual({ ...after.data_source, source: null }, { ...before.data_source, source: null })
  const { source } = after.data_source
  assert.ok(source.type === 'file_id')
  const content = await (await to.client.files.content(source.id)).text()
  assert.deepEqual(
    content
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
    rows,
  )

  const again = await move(from, to)
  assert.deepEqual([again.code, again.said.match(/\(was there\)/g)?.length], [0, 2], again.said)
  assert.deepEqual([(await listEvals(to)).length, (await listRuns(to, made.id)).length], [1, 1])
})

test('data that cannot be downloaded any more comes from the results, and what cannot move is said', async () => {
  double().decide(() => 'Hardware')
  const [from, to] = [await sideOf('old'), await sideOf('new')]
  const {
    testing_criteria: [same],
  } = params
  assert.ok(same !== undefined)
  const { id } = await from.client.evals.create({ ...params, testing_criteria: [same] })
  const fileId = await upload(from.client)
  await runOf(from.client, id, fileId)
  await from.client.files.delete(fileId)
  const content = rows.map((row) => ({ ...row, sample: { output_text: 'Other' } }))
  await from.client.evals.runs.create(id, { data_source: { type: 'jsonl', source: { type: 'file_content', content } } })
  const logs = await from.client.evals.create({
    ...params,
    name: 'Logs',
    data_source_config: { type: 'logs' },
    testing_criteria: [{ ...same, reference: 'x' } as typeof same],
  })
  await from.client.evals.runs.create(logs.id, { data_source: { type: 'responses', source: { type: 'responses' } } })

  const moved = await move(from, to, '--runs', 'all', '--model', 'double-chat=double-responses')
  assert.equal(moved.code, 1, moved.said)
  assert.match(moved.said, /its 3 rows were taken from the results of the run/)
  assert.match(moved.said, /not moved\n +it reads responses of the old server/)
  const [made, loggedAt] = await listEvals(to)
  assert.ok(made !== undefined && loggedAt !== undefined)
  const runs = await listRuns(to, made.id)
  assert.deepEqual(
    runs.map((run) => run.data_source.type),
    ['responses', 'jsonl'],
  )
  for (const run of runs) assert.deepEqual((await ended(to.client, made.id, run.id)).result_counts.passed, 1)
  assert.equal('model' in runs[0]!.data_source && runs[0]!.data_source.model, 'double-responses')
})

test('a model that the target lacks is named', async () => {
  const [from, to] = [await sideOf('old'), await sideOf('new')]
  await from.client.evals.create(params)
  const moved = await move(from, to, '--model', 'double-chat=nobody')
  assert.equal(moved.code, 1, moved.said)
  assert.match(moved.said, /the target has no model nobody: add it there, or give --model double-chat=ANOTHER/)
})

const pairs = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`key${at}`, 'value']))
const pageOf = (...data: object[]) => ({ object: 'list', data, has_more: false, first_id: null, last_id: null })

type Answer = (response: ServerResponse) => void
const refuse =
  (status: number, message: string): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' })
    response.end(JSON.stringify({ error: { message, code: null } }))
  }
const notGivenOut = refuse(400, 'Not allowed to download files of purpose: evals')
const breakOff: Answer = (response) => {
  response.writeHead(200, { 'content-length': '1000' })
  response.write('{"item":', () => response.destroy())
}

/** The hosted original at its wire, as far as the script asks it: it says null where nothing was said. */
async function hostedOriginal(t: TestContext, status: string, ...downloads: Answer[]): Promise<Place> {
  const replies: Record<string, object> = {
    '/evals': pageOf({
      id: 'eval_hosted',
      object: 'eval',
      name: 'Hosted',
      metadata: pairs,
      data_source_config: {
        type: 'custom',
        schema: { type: 'object', properties: { item: { type: 'object', properties: { label: { type: 'string' } } } } },
      },
      testing_criteria: [
        { ...similar, id: 'near-1', evaluation_metric: 'fuzzy_match', input: '{{ item.label }}' },
        {
          id: 'p-1',
          type: 'python',
          name: 'p',
          source: 'def grade(s, i): return 1',
          image_tag: null,
          pass_threshold: null,
        },
      ],
    }),
    '/evals/eval_hosted/runs': pageOf({
      id: 'evalrun_hosted',
      eval_id: 'eval_hosted',
      name: 'Old',
      status,
      metadata: null,
      data_source: {
        type: 'responses',
        model: 'double-chat',
        input_messages: {
          type: 'template',
          template: [{ type: 'message', role: 'user', content: { type: 'input_text', text: 'x' } }],
        },
        sampling_params: { seed: 42, temperature: 1, max_completions_tokens: 50, top_p: null },
        source: { type: 'file_id', id: 'file-hosted' },
      },
    }),
    '/evals/eval_hosted/runs/evalrun_hosted/output_items': pageOf(
      { id: 'o2', datasource_item_id: 1, datasource_item: { label: 'b' }, sample: { output: [] } },
      { id: 'o1', datasource_item_id: 0, datasource_item: { label: 'a' }, sample: { output: [] } },
    ),
  }
  const server = createServer((request, response) => {
    const reply = replies[new URL(request.url ?? '/', 'http://hosted').pathname]
    if (reply === undefined) return (downloads.shift() ?? notGivenOut)(response)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(reply))
  })
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { key: 'sk-hosted', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('what the hosted original says is turned into what it was told', async (t) => {
  const to = await sideOf('new')
  const moved = await move(await hostedOriginal(t, 'completed'), to)
  assert.equal(moved.code, 0, moved.said)
  assert.match(moved.said, /left out metadata "key15" to make room for moved_from/)
  const [made] = await listEvals(to)
  assert.deepEqual([made?.metadata?.['moved_from'], made?.metadata?.['key14']], ['eval_hosted', 'value'])
  const [run] = await listRuns(to, made?.id ?? '')
  assert.ok(run?.data_source.type === 'responses' && run.data_source.source.type === 'file_id')
  assert.deepEqual(run.data_source.sampling_params, { seed: 42, temperature: 1, max_completion_tokens: 50 })
  const content = await (await to.client.files.content(run.data_source.source.id)).text()
  assert.equal(content, '{"item":{"label":"a"}}\n{"item":{"label":"b"}}\n')
})

test('a download that fails is not taken for a lost file, and is made up for the next time', async (t) => {
  const to = await sideOf('new')
  const whole = '{"item":{"label":"a"}}\n{"item":{"label":"b"}}\n{"item":{"label":"c"}}\n'
  const from = await hostedOriginal(t, 'canceled', refuse(503, 'Not now'), breakOff, (response) => response.end(whole))
  for (const why of [/503 Not now/, /terminated|aborted|closed/]) {
    const moved = await move(from, to)
    assert.equal(moved.code, 1, moved.said)
    assert.match(
      moved.said,
      /not moved\n(?: +left out.*\n)* +file-hosted could not be downloaded \(.*\): start this script again\n/,
    )
    assert.match(moved.said, why)
  }
  const [made] = await listEvals(to)
  assert.deepEqual(await listRuns(to, made?.id ?? ''), [])

  const moved = await move(from, to)
  assert.equal(moved.code, 0, moved.said)
  const [run] = await listRuns(to, made?.id ?? '')
  assert.ok(run?.data_source.source.type === 'file_id')
  assert.equal(await (await to.client.files.content(run.data_source.source.id)).text(), whole)
})

test('rows are not taken from the results of a run that did not complete: they would be too few', async (t) => {
  const to = await sideOf('new')
  const moved = await move(await hostedOriginal(t, 'canceled'), to)
  assert.equal(moved.code, 1, moved.said)
  assert.match(moved.said, /file-hosted can no longer be downloaded: upload the data to the target/)
})
