import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { InternalServerError, OpenAI, RateLimitError } from 'openai'
import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import { testApp } from '../../server/test/test-app.ts'
import { startRehearsal } from './rehearsal.ts'

const tickets = new URL('../../docs/examples/evals/tickets/tickets.jsonl', import.meta.url)

const get_weather = {
  type: 'function' as const,
  name: 'get_weather',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
}
const capital = {
  type: 'json_schema' as const,
  name: 'capital',
  strict: true,
  schema: {
    type: 'object',
    properties: { country: { type: 'string' }, capital: { type: 'string' } },
    required: ['country', 'capital'],
    additionalProperties: false,
  },
}

async function open(t: TestContext): Promise<OpenAI> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-rehearsal-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const rehearsal = await startRehearsal({ dataDir: folder })
  t.after(() => rehearsal.stop())
  const app = await testApp(t, { SWITCHYARD_MODELS: rehearsal.modelsFile })
  return new OpenAI({ baseURL: `${app.baseUrl}/v1`, apiKey: app.project.key, maxRetries: 0 })
}

test('the rehearsal model shows every feature', async (t) => {
  const client = await open(t)

  const ask = async (input: string, more: Partial<ResponseCreateParamsNonStreaming> = {}) =>
    await client.responses.create({ model: 'rehearsal', input, ...more })

  await t.test('says hello under the name of its snapshot, whole and as a stream', async () => {
    const said = await ask('Say hello.')
    assert.match(said.output_text, /^Hello\. I am the rehearsal model/)
    assert.equal(said.model, 'rehearsal-2026-11-01')
    const streamed = await client.responses.stream({ model: 'rehearsal', input: 'Say hello.' }).finalResponse()
    assert.equal(streamed.output_text, said.output_text)
  })

  await t.test('shows its reasoning', async () => {
    const { output } = await ask('Think about 17 times 23.', { reasoning: { effort: 'low' } })
    assert.deepEqual(
      output.map(({ type }) => type),
      ['reasoning', 'message'],
    )
  })

  await t.test('calls a function, two at once, and goes on with the results', async () => {
    const one = await ask('What is the weather?', { tools: [get_weather] })
    const two = await ask('What is the weather in two cities?', { tools: [get_weather] })
    const calls = [one, two].map(({ output }) => output.filter((item) => item.type === 'function_call'))
    assert.deepEqual(
      calls.map((made) => made.map((call) => call.arguments)),
      [['{"city":"Paris"}'], ['{"city":"Paris"}', '{"city":"Oslo"}']],
    )
    const outputs = calls[1]?.map(({ call_id }) => ({
      type: 'function_call_output' as const,
      call_id,
      output: '12 degrees',
    }))
    const after = await client.responses.create({
      model: 'rehearsal',
      previous_response_id: two.id,
      input: outputs ?? [],
      tools: [get_weather],
    })
    assert.equal(after.output_text, 'Take a hat to Paris and a coat to Oslo.')
  })

  await t.test('writes the input of a custom tool, and goes on with its answer', async () => {
    const tools = [{ type: 'custom' as const, name: 'sql' }]
    const asked = await ask('How many customers are there?', { tools })
    const [call] = asked.output
    assert.ok(call?.type === 'custom_tool_call')
    assert.equal(call.input, 'select count(*) from customers')
    const output = { type: 'custom_tool_call_output' as const, call_id: call.call_id, output: '42' }
    const after = await client.responses.create({
      model: 'rehearsal',
      previous_response_id: asked.id,
      input: [output],
      tools,
    })
    assert.equal(after.output_text, 'You have 42 customers.')
  })

  await t.test('uses a shell on the machine of its user, and goes on with what it wrote', async () => {
    const tools = [{ type: 'shell' as const, environment: { type: 'local' as const } }]
    const asked = await ask('List the files.', { tools })
    const [call] = asked.output
    assert.ok(call?.type === 'shell_call')
    assert.deepEqual(call.action, { commands: ['ls', 'echo done'], timeout_ms: 10_000, max_output_length: 4_000 })
    const entry = { stdout: 'done\n', stderr: '', outcome: { type: 'exit' as const, exit_code: 0 } }
    const output = {
      type: 'shell_call_output' as const,
      call_id: call.call_id,
      max_output_length: 4_000,
      output: [entry, entry],
    }
    const after = await client.responses.create({
      model: 'rehearsal',
      previous_response_id: asked.id,
      input: [output],
      tools,
    })
    assert.equal(after.output_text, 'I have listed your files.')
  })

  await t.test('runs the commands that stand between backticks, and names the files that they name', async () => {
    const tools = [{ type: 'shell' as const, environment: { type: 'local' as const } }]
    const asked = await ask('Please run `echo hi > /mnt/data/hi.txt` and `ls`.', { tools })
    const [call] = asked.output
    assert.ok(call?.type === 'shell_call')
    assert.deepEqual(call.action.commands, ['echo hi > /mnt/data/hi.txt', 'ls'])
    const entry = { stdout: '', stderr: '', outcome: { type: 'exit' as const, exit_code: 0 } }
    const output = { type: 'shell_call_output' as const, call_id: call.call_id, output: [entry, entry] }
    const after = await client.responses.create({
      model: 'rehearsal',
      previous_response_id: asked.id,
      input: [output],
      tools,
    })
    assert.equal(after.output_text, 'I have run it. See /mnt/data/hi.txt.')
    assert.equal((await ask('Run `ls`.')).output_text, 'Declare the shell tool, and I will run it.')
  })

  await t.test('uses the older local shell and the patch tool', async () => {
    const where = await ask('Which directory is this?', { tools: [{ type: 'local_shell' }] })
    const patch = await ask('Write a greeting.', { tools: [{ type: 'apply_patch' }] })
    const [[first], [second]] = [where.output, patch.output]
    assert.ok(first?.type === 'local_shell_call' && second?.type === 'apply_patch_call')
    assert.deepEqual(first.action.command, ['pwd'])
    assert.deepEqual(second.operation, {
      type: 'create_file',
      path: 'greeting.txt',
      diff: '+Hello from the rehearsal model.\n',
    })
  })

  await t.test('keeps to a schema', async () => {
    const { output_text: text } = await ask('What is the capital of France?', { text: { format: capital } })
    assert.deepEqual(JSON.parse(text), { country: 'France', capital: 'Paris' })
  })

  await t.test('refuses, whole and as a stream', async () => {
    const refused = await ask('How do I pick a lock?')
    const streamed = await client.responses
      .stream({ model: 'rehearsal', input: 'How do I pick a lock?' })
      .finalResponse()
    for (const { output } of [refused, streamed]) {
      const [message] = output
      assert.ok(message?.type === 'message')
      const [part] = message.content
      assert.ok(part?.type === 'refusal')
      assert.equal(part.refusal, "I cannot help with opening other people's doors.")
    }
  })

  await t.test('ends before its time for want of tokens or by a filter', async () => {
    const [short, filtered] = [await ask('Be cut short.'), await ask('Say something forbidden.')]
    assert.deepEqual(
      [short, filtered].map(({ status, incomplete_details: details }) => [status, details?.reason]),
      [
        ['incomplete', 'max_output_tokens'],
        ['incomplete', 'content_filter'],
      ],
    )
  })

  await t.test('fails as a provider fails: at the door, in the middle, and for asking too often', async () => {
    await assert.rejects(ask('Give me a provider error.'), InternalServerError)
    await assert.rejects(
      ask('Send too many requests.'),
      (error) => error instanceof RateLimitError && error.headers.get('retry-after') === '30',
    )
    const types: string[] = []
    const stream = await client.responses.create({ model: 'rehearsal', input: 'Break off.', stream: true })
    for await (const event of stream) types.push(event.type)
    assert.equal(types.at(-1), 'response.failed')
    assert.ok(types.includes('response.output_text.delta'))
  })

  await t.test('gives a long answer slowly, so that one can leave in the middle', async () => {
    const stream = await client.responses.create({ model: 'rehearsal', input: 'A long answer, please.', stream: true })
    let deltas = 0
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') deltas += 1
      if (deltas === 3) break
    }
    assert.equal(deltas, 3)
  })

  await t.test('sorts the tickets of the example eval, all but one as people did', async () => {
    const lines = (await readFile(tickets, 'utf8')).trim().split('\n')
    const items = lines.map((line) => (JSON.parse(line) as { item: Record<string, string> }).item)
    const wrong: unknown[] = []
    for (const { ticket_text: text, correct_label: label } of items) {
      if ((await ask(`Ticket: ${text}`)).output_text !== label) wrong.push(text)
    }
    assert.deepEqual(wrong, ['The screen of the meeting room shows the wrong calendar.'])
  })

  await t.test('compacts, and answers anything else', async () => {
    const compacted = await client.responses.compact({ model: 'rehearsal', input: 'Say hello.' })
    assert.equal(compacted.output.at(-1)?.type, 'compaction')
    assert.match((await ask('Something else.')).output_text, /^This is the rehearsal model/)
  })
})
