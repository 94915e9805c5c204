import { Agent, applyPatchTool, OpenAIProvider, Runner, shellTool, tool } from '@openai/agents'
import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { ProviderDouble } from '../../server/test/provider-double.ts'
import { folderEditor } from './testing/folder-editor.ts'
import { folderShell } from './testing/folder-shell.ts'
import { useDoubleStack } from './testing/use-double-stack.ts'

const { stack, double } = useDoubleStack()
const models = ['double-chat', 'double-responses', 'double-anthropic'] as const
const transports = ['http', 'websocket'] as const
const ways = transports.flatMap((transport) => models.map((model) => ({ transport, model })))

let socketsOpened = 0
subscribe('undici:websocket:open', () => (socketsOpened += 1))

/** The agents package with nothing of ours but address and key. */
function runnerOver(t: TestContext, transport: (typeof transports)[number]): Runner {
  const modelProvider = new OpenAIProvider({
    apiKey: stack().stack.seeded.projectKey,
    baseURL: stack().baseURL,
    useResponses: true,
    useResponsesWebSocket: transport === 'websocket',
  })
  t.after(() => modelProvider.close())
  return new Runner({ modelProvider, tracingDisabled: true })
}

async function scratchFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-agent-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** All that the provider was told, from the `first` request on. */
const toldSince = (provider: ProviderDouble, first: number) =>
  provider.requests.slice(first).map(({ body }) => JSON.stringify(body))

const getWeather = (asked: string[]) =>
  tool({
    name: 'get_weather',
    description: 'The weather in a city.',
    strict: true,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
    execute: async (input) => {
      const { city } = input as { city: string }
      asked.push(city)
      return `It is mild in ${city}.`
    },
  })

for (const { transport, model } of ways) {
  test(`an agent with function tools runs to its end over ${transport} with ${model}`, async (t) => {
    const first = double().requests.length
    const socketsBefore = socketsOpened
    double().queue(
      {
        calls: [
          { name: 'get_weather', arguments: { city: 'Paris' }, id: 'call_a' },
          { name: 'get_weather', arguments: { city: 'Oslo' }, id: 'call_b' },
        ],
      },
      { calls: [{ name: 'get_weather', arguments: { city: 'Rome' } }] },
      'Mild everywhere.',
    )
    const asked: string[] = []
    const agent = new Agent({ name: 'Weather', instructions: 'Be brief.', model, tools: [getWeather(asked)] })
    const { finalOutput } = await runnerOver(t, transport).run(agent, 'Weather in Paris, Oslo and Rome?')
    assert.equal(finalOutput, 'Mild everywhere.')
    assert.deepEqual(asked, ['Paris', 'Oslo', 'Rome'])
    const told = toldSince(double(), first)
    assert.equal(told.length, 3)
    assert.equal(socketsOpened - socketsBefore, transport === 'websocket' ? 1 : 0, 'one socket for the whole run')
    for (const city of asked) assert.ok(told.at(-1)?.includes(`It is mild in ${city}.`), city)
  })

  // S1-1.1-a S1-1.1-c S1-2.1-f S1-7.5
  test(`an agent with a local shell runs to its end over ${transport} with ${model}`, async (t) => {
    const first = double().requests.length
    const folder = await scratchFolder(t)
    const commands = ['echo one > made.txt', 'ls', 'ls absent']
    double().queue(
      { calls: [{ name: 'shell', arguments: { commands, timeout_ms: 5_000, max_output_length: 1_000 } }] },
      'I made a file.',
    )
    const agent = new Agent({ name: 'Shell', model, tools: [shellTool({ shell: folderShell(folder) })] })
    const { finalOutput } = await runnerOver(t, transport).run(agent, 'Make a file.')
    assert.equal(finalOutput, 'I made a file.')
    assert.deepEqual(await readdir(folder), ['made.txt'])
    const told = toldSince(double(), first)
    assert.equal(told.length, 2)
    assert.match(told[1] ?? '', /made\.txt.*absent.*exit_code\\*":2/, 'the model reads what the commands wrote')
  })

  test(`an agent with a patch tool runs to its end over ${transport} with ${model}`, async (t) => {
    const folder = await scratchFolder(t)
    const patch = (operation: Record<string, unknown>) => ({
      calls: [{ name: 'apply_patch', arguments: { operation } }],
    })
    double().queue(
      patch({ type: 'create_file', path: 'a.txt', diff: '+one\n+two\n' }),
      patch({ type: 'update_file', path: 'a.txt', diff: '@@\n one\n-two\n+three\n' }),
      'The file is right now.',
    )
    const agent = new Agent({ name: 'Patch', model, tools: [applyPatchTool({ editor: folderEditor(folder) })] })
    const { finalOutput } = await runnerOver(t, transport).run(agent, 'Write the file.')
    assert.equal(finalOutput, 'The file is right now.')
    assert.deepEqual((await readFile(join(folder, 'a.txt'), 'utf8')).trim().split('\n'), ['one', 'three'])
  })

  test(`an agent that is streamed tells what it does over ${transport} with ${model}`, async (t) => {
    double().queue(
      { reasoning: 'The user wants the weather.', calls: [{ name: 'get_weather', arguments: { city: 'Paris' } }] },
      'Mild in Paris.',
    )
    const asked: string[] = []
    const agent = new Agent({ name: 'Weather', model, tools: [getWeather(asked)] })
    const result = await runnerOver(t, transport).run(agent, 'Weather in Paris?', { stream: true })
    const items: string[] = []
    let text = ''
    for await (const event of result) {
      if (event.type === 'run_item_stream_event') items.push(event.item.type)
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') text += event.data.delta
    }
    await result.completed
    assert.deepEqual([result.finalOutput, text, asked], ['Mild in Paris.', 'Mild in Paris.', ['Paris']])
    for (const type of ['tool_call_item', 'tool_call_output_item', 'message_output_item'])
      assert.ok(items.includes(type), type)
  })

  test(`an agent goes on in a conversation that the server keeps, over ${transport} with ${model}`, async (t) => {
    const folder = await scratchFolder(t)
    const { id: conversationId } = await stack().project().conversations.create({})
    double().queue(
      { calls: [{ name: 'shell', arguments: { commands: ['echo slate > stone.txt'] } }] },
      'Written.',
      { calls: [{ name: 'shell', arguments: { commands: ['cat stone.txt'] } }] },
      'It says slate.',
    )
    const agent = new Agent({ name: 'Shell', model, tools: [shellTool({ shell: folderShell(folder) })] })
    const runner = runnerOver(t, transport)
    assert.equal((await runner.run(agent, 'Write slate.', { conversationId })).finalOutput, 'Written.')
    assert.equal((await runner.run(agent, 'Read it.', { conversationId })).finalOutput, 'It says slate.')
    const types: string[] = []
    for await (const item of stack().project().conversations.items.list(conversationId, { order: 'asc' }))
      types.push(item.type)
    const turn = ['message', 'shell_call', 'shell_call_output', 'message']
    assert.deepEqual(types, [...turn, ...turn])
  })

  test(`an agent goes on from an earlier response over ${transport} with ${model}`, async (t) => {
    double().queue({ calls: [{ name: 'get_weather', arguments: { city: 'Paris' } }] }, 'Mild.', 'I said mild.')
    const agent = new Agent({ name: 'Weather', model, tools: [getWeather([])] })
    const runner = runnerOver(t, transport)
    const { lastResponseId } = await runner.run(agent, 'Weather in Paris?')
    assert.ok(lastResponseId !== undefined)
    const after = await runner.run(agent, 'What did you say?', { previousResponseId: lastResponseId })
    assert.equal(after.finalOutput, 'I said mild.')
    assert.match(JSON.stringify(double().requests.at(-1)?.body), /It is mild in Paris\..*Mild\..*What did you say\?/)
  })
}
