import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { BadRequestError } from 'openai'
import type { ResponseFunctionShellToolCall, ResponseInputItem } from 'openai/resources/responses/responses'
import { openSink } from '#modules/webhooks/testing/sink.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { folderShell } from './testing/folder-shell.ts'
import { useDoubleStack } from './testing/use-double-stack.ts'

const { stack, double } = useDoubleStack()
const model = 'double-chat'
const tools = [{ type: 'shell' as const, environment: { type: 'local' as const } }]
const BOUND_MS = 30_000
const lastTold = () => JSON.stringify(double().requests.at(-1)?.body)

/** What a client does with a call: runs all of it, and tells what came of each command. */
async function carryOut(folder: string, call: ResponseFunctionShellToolCall): Promise<ResponseInputItem> {
  const { commands, timeout_ms: timeoutMs, max_output_length: max } = call.action
  const ran = await folderShell(folder).run({ commands, ...(timeoutMs === null ? {} : { timeoutMs }) })
  return {
    type: 'shell_call_output',
    call_id: call.call_id,
    max_output_length: max,
    output: ran.output.map(({ stdout, stderr, outcome }) => ({
      stdout,
      stderr,
      outcome: outcome.type === 'exit' ? { type: 'exit', exit_code: outcome.exitCode ?? 0 } : outcome,
    })),
  }
}

// S1-2.1-b S1-2.5-d S1-2.5-e S1-2.5-f S1-2.5-h S1-2.5-k S1-2.5-l S1-2.5-m S1-2.5-n S1-2.5-o S1-2.5-p S1-2.5-q S1-2.6-a
// S1-2.6-b S1-2.6-c S1-2.6-d S1-2.6-e S1-2.6-f S1-2.6-h S1-4.1-b S1-4.1-d S1-4.1-f S1-4.1-g S1-4.1-q S1-7.2 S1-7.3 S1-7.5
test('a local shell call is run by the client, and the model reads all that came of it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-shell-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const client = stack().project()
  const commands = ['echo out; echo err >&2', 'exit 3', 'echo part; exec sleep 60']
  double().queue(
    { calls: [{ name: 'shell', arguments: { commands, timeout_ms: 1_000, max_output_length: 2_000 } }] },
    'All three were run.',
    'They were.',
  )
  const first = await client.responses.create({
    model,
    instructions: 'Speak plainly.',
    tools,
    tool_choice: 'required',
    input: [
      { type: 'message', role: 'developer', content: 'Use the shell.' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Run three commands.' }] },
    ],
  })
  assert.match(lastTold(), /Speak plainly\..*Use the shell\..*Run three commands\./)
  const [call] = first.output
  assert.ok(call?.type === 'shell_call')
  assert.deepEqual([call.status, call.environment], ['in_progress', { type: 'local' }])
  assert.deepEqual(call.action, { commands, timeout_ms: 1_000, max_output_length: 2_000 })

  const answer = await carryOut(folder, call)
  assert.ok(answer.type === 'shell_call_output')
  assert.deepEqual(answer.output, [
    { stdout: 'out\n', stderr: 'err\n', outcome: { type: 'exit', exit_code: 0 } },
    { stdout: '', stderr: '', outcome: { type: 'exit', exit_code: 3 } },
    { stdout: 'part\n', stderr: '', outcome: { type: 'timeout' } },
  ])
  const second = await client.responses.create({ model, previous_response_id: first.id, input: [answer], tools })
  assert.equal(second.output_text, 'All three were run.')
  const told = lastTold().replaceAll('\\', '')
  for (const { stdout, stderr, outcome } of answer.output)
    assert.ok(told.includes(JSON.stringify({ stdout, stderr, outcome }).replaceAll('\\', '')), JSON.stringify(outcome))
  const { data } = await client.responses.inputItems.list(second.id)
  const [kept] = data
  assert.ok(kept?.type === 'shell_call_output')
  assert.deepEqual([kept.max_output_length, kept.output], [2_000, answer.output])

  // The same without anything stored: both items are sent along.
  const { id: _id, ...sent } = call
  const again = await client.responses.create({
    model,
    store: false,
    tools,
    input: [{ role: 'user', content: 'Were they run?' }, sent, answer],
  })
  assert.equal(again.output_text, 'They were.')
})

// S1-2.1-g
test('a shell is nowhere but in the places that there are', async () => {
  const odd = [{ type: 'shell' as const, environment: { type: 'elsewhere' } }]
  await assert.rejects(
    async () =>
      await stack()
        .project()
        .responses.create({ model, input: 'x', tools: odd as never }),
    (error) => error instanceof BadRequestError && error.param === 'tools[0].environment.type',
  )
})

// S1-2.6-g S1-4.1-e
test('a file in the input reaches the model', async () => {
  double().queue('It says hello.')
  const data = Buffer.from('hello').toString('base64')
  const file = { type: 'input_file' as const, filename: 'a.txt', file_data: `data:text/plain;base64,${data}` }
  const { output_text: text } = await stack()
    .project()
    .responses.create({ model, tools, tool_choice: 'auto', input: [{ role: 'user', content: [file] }] })
  assert.equal(text, 'It says hello.')
  assert.ok(lastTold().includes(data))
})

// S1-4.1-j S1-4.1-k S1-6-d S3-6-b
test('a response that ends tells it by webhook, in the background or not', async (t) => {
  const sink = await openSink()
  t.after(() => sink.close())
  const client = (await stack().newProject('ends')).client()
  await client.webhooks.create({ name: 'Ends', url: `${sink.url}/hook`, event_types: ['response.completed'] })
  const inFront = await client.responses.create({ model, input: 'One.' })
  const behind = await client.responses.create({ model, input: 'Two.', background: true })
  assert.equal(behind.status, 'queued')
  assert.ok(await becomesTrue(() => sink.received.length >= 2, BOUND_MS))
  const events = sink.received.map(({ body }) => JSON.parse(body) as { type: string; data: { id: string } })
  assert.deepEqual(events.map(({ data }) => data.id).toSorted(), [inFront.id, behind.id].toSorted())
  assert.equal((await client.responses.retrieve(behind.id)).output_text, 'Two.')
})
