import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APIError } from 'openai'
import type { Response, ResponseStreamEvent, Tool } from 'openai/resources/responses/responses'
import type { Answer } from '../../server/test/provider-double.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { useDoubleStack } from './testing/use-double-stack.ts'

const { stack, double } = useDoubleStack()
const BOUND_MS = 30_000

const look: Tool = { type: 'function', name: 'look', parameters: { type: 'object' }, strict: false }
const say: Tool = { type: 'custom', name: 'say' }

interface Case {
  readonly says: string
  readonly model: string
  readonly answer: Answer
  readonly tools?: Tool[]
  readonly items: string[]
  /** Events of which at least one must come. */
  readonly events: string[]
}

const cases: Case[] = [
  {
    says: 'a message',
    model: 'double-chat',
    answer: 'One two three.',
    items: ['message'],
    events: ['response.output_text.delta', 'response.content_part.done'],
  },
  {
    says: 'a refusal',
    model: 'double-chat',
    answer: { refusal: 'I would rather not.' },
    items: ['message'],
    events: ['response.refusal.delta', 'response.refusal.done'],
  },
  {
    says: 'summaries of reasoning and a message',
    model: 'double-responses',
    answer: { reasoning: 'First thought.\n\nSecond thought.', text: 'Four.' },
    items: ['reasoning', 'message'],
    events: ['response.reasoning_summary_part.added', 'response.reasoning_summary_text.done'],
  },
  {
    says: 'the text of reasoning and a message',
    model: 'double-chat',
    answer: { reasoning: 'Let me think.', text: 'Four.' },
    items: ['reasoning', 'message'],
    events: ['response.reasoning_text.delta', 'response.reasoning_text.done'],
  },
  {
    says: 'thinking and two function calls',
    model: 'double-anthropic',
    answer: { reasoning: 'Look twice.', calls: [1, 2].map((n) => ({ name: 'look', id: `t${n}`, arguments: { n } })) },
    tools: [look],
    items: ['reasoning', 'function_call', 'function_call'],
    events: ['response.function_call_arguments.delta', 'response.function_call_arguments.done'],
  },
  {
    says: 'a message and a custom tool call',
    model: 'double-responses',
    answer: { text: 'Aloud:', calls: [{ name: 'say', custom: true, arguments: 'hear hear' }] },
    tools: [say],
    items: ['message', 'custom_tool_call'],
    events: ['response.custom_tool_call_input.delta', 'response.custom_tool_call_input.done'],
  },
  {
    says: 'a local shell call',
    model: 'double-chat',
    answer: { calls: [{ name: 'shell', arguments: { commands: ['ls', 'pwd'], timeout_ms: 1_000 } }] },
    tools: [{ type: 'shell', environment: { type: 'local' } }],
    items: ['shell_call'],
    events: ['response.shell_call_command.added', 'response.shell_call_command.done'],
  },
  {
    says: 'a patch',
    model: 'double-chat',
    answer: {
      calls: [{ name: 'apply_patch', arguments: { operation: { type: 'delete_file', path: 'a.txt' } } }],
    },
    tools: [{ type: 'apply_patch' }],
    items: ['apply_patch_call'],
    events: ['response.output_item.added', 'response.output_item.done'],
  },
  {
    says: 'a call of the older local shell',
    model: 'double-chat',
    answer: { calls: [{ name: 'local_shell', arguments: { command: ['ls', '-l'] } }] },
    tools: [{ type: 'local_shell' }],
    items: ['local_shell_call'],
    events: ['response.output_item.added', 'response.output_item.done'],
  },
]

/** Reads a stream to its end through the SDK's strict helper: it throws at whatever breaks its rules. */
async function followed(
  helper: AsyncIterable<ResponseStreamEvent> & { finalResponse(): Promise<Response> },
): Promise<{ types: string[]; final: Response }> {
  const types: string[] = []
  for await (const event of helper) {
    assert.equal(event.sequence_number, types.length)
    types.push(event.type)
  }
  return { types, final: await helper.finalResponse() }
}

// S1-4.1-l
for (const { says, model, answer, tools = [], items, events } of cases) {
  test(`the strict stream helper follows ${says}, live and from the store`, async () => {
    const client = stack().project({ maxRetries: 0 })
    double().queue(answer, answer)
    const live = await followed(client.responses.stream({ model, input: 'Go.', tools }))
    assert.deepEqual(
      [live.final.status, live.final.output.map(({ type }) => type), live.types[0], live.types.at(-1)],
      ['completed', items, 'response.created', 'response.completed'],
    )
    for (const type of events) assert.ok(live.types.includes(type), `${type} is among ${live.types.join(' ')}`)
    const stored = await client.responses.retrieve(live.final.id)
    assert.deepEqual(stored.output, live.final.output.map(withoutParsed))
    const queued = await client.responses.create({ model, input: 'Go.', tools, background: true })
    assert.deepEqual([queued.status, queued.output_text], ['queued', ''])
    const again = await followed(client.responses.stream({ response_id: queued.id }))
    assert.deepEqual(
      again.final.output.map(({ type }) => type),
      items,
    )
    assert.ok(again.types.includes('response.queued'))
  })
}

/** The helper adds what it has parsed. */
function withoutParsed<Item extends object>(item: Item): Item {
  return JSON.parse(
    JSON.stringify(item, (key, value: unknown) => (key === 'parsed' || key === 'parsed_arguments' ? undefined : value)),
  ) as Item
}

test('a stream is taken up again after any event', async () => {
  const client = stack().project({ maxRetries: 0 })
  double().queue({ text: 'One two three four five.', slowMs: 30 })
  const live = await client.responses.create({ model: 'double-chat', input: 'Go.', background: true, stream: true })
  const seen: ResponseStreamEvent[] = []
  let id = ''
  for await (const event of live) {
    seen.push(event)
    if (event.type === 'response.created') id = event.response.id
    if (event.type === 'response.output_text.delta') break
  }
  const after = seen.at(-1)?.sequence_number ?? 0
  for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: after }))
    seen.push(event)
  assert.deepEqual(
    seen.map((event) => event.sequence_number),
    seen.map((_event, index) => index),
  )
  assert.equal(seen.at(-1)?.type, 'response.completed')
})

test('a failure in the middle is told by the stream; a cancelled response ends it as incomplete', async () => {
  const client = stack().project({ maxRetries: 0 })
  double().queue({ text: 'one two three', after: 3, trouble: 'cut' })
  const failed = await followed(client.responses.stream({ model: 'double-chat', input: 'Go.' }))
  assert.deepEqual([failed.final.status, failed.final.error?.code], ['failed', 'server_error'])
  double().queue({ text: 'word '.repeat(2_000), slowMs: 20 })
  const { id } = await client.responses.create({ model: 'double-chat', input: 'Go.', background: true })
  const following = followed(client.responses.stream({ response_id: id }))
  const running = async () => (await client.responses.retrieve(id)).status === 'in_progress'
  assert.ok(await becomesTrue(running, BOUND_MS))
  assert.equal((await client.responses.cancel(id)).status, 'cancelled')
  const { types, final } = await following
  assert.deepEqual([types.at(-1), final.status], ['response.incomplete', 'cancelled'])
})

test('a provider that refuses at once is an HTTP error of the right class, also for a stream', async () => {
  const client = stack().project({ maxRetries: 0 })
  for (const stream of [false, true]) {
    double().queue({ status: 429, headers: { 'retry-after': '40' } })
    const call = async () => await client.responses.create({ model: 'double-chat', input: 'Go.', stream })
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof APIError)
      assert.deepEqual(
        [error.status, error.code, error.headers?.get('retry-after')],
        [429, 'rate_limit_exceeded', '40'],
      )
      return true
    })
  }
})

test('padding of deltas comes when asked for', async () => {
  const client = stack().project({ maxRetries: 0 })
  for (const include_obfuscation of [true, false]) {
    const body = { model: 'double-chat', input: 'One two.', stream_options: { include_obfuscation } }
    const deltas: object[] = []
    for await (const event of await client.responses.create({ ...body, stream: true })) {
      if (event.type === 'response.output_text.delta') deltas.push(event)
    }
    assert.ok(deltas.length > 0 && deltas.every((delta) => 'obfuscation' in delta === include_obfuscation))
  }
})
