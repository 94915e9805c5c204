import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { TurnPart } from '../domain/turn.ts'
import { longHistory } from '../testing/long-history.ts'
import { collect, testInference, turn, userMessage } from '../testing/turns.ts'

const still = () => new AbortController().signal
const calls = [
  ['call_1', 'weather', { city: 'Oslo' }],
  ['call_2', 'count', { input: '42' }],
  ['call_3', 'shell', { commands: ['ls'] }],
  ['call_4', 'local_shell', { command: ['pwd'], env: {} }],
  ['call_5', 'apply_patch', { operation: { type: 'delete_file', path: 'a' } }],
] as const
const outputs = [
  ['call_2', 'counted'],
  ['call_3', '{"output":[{"stdout":"a\\n","stderr":"","outcome":{"type":"exit","exit_code":0}}]}'],
  ['call_4', '/home'],
  ['call_5', '{"status":"failed","output":"no such file"}'],
] as const

test('chat_completions: calls of one turn and the text before them are one message; outputs follow in order', async (t) => {
  const { double, inference } = await testInference(t)
  await collect(inference.streamTurn(turn('chat_completions', { instructions: 'Hi.', items: longHistory }), still()))
  const image = { type: 'image_url', image_url: { url: 'https://example.com/rain.png' } }
  assert.deepEqual(double.requests[0]?.body['messages'], [
    { role: 'system', content: 'Hi.' },
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I will see.',
      tool_calls: calls.map(([id, name, args]) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
      })),
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'Rain.\n(Its images and files follow.)' },
    ...outputs.map(([id, content]) => ({ role: 'tool', tool_call_id: id, content })),
    { role: 'user', content: [{ type: 'text', text: 'What call call_1 gave:' }, image] },
    { role: 'user', content: 'Go on.' },
  ])
})

test('responses: items pass as they are, without what is only ours', async (t) => {
  const { double, inference } = await testInference(t)
  const tools = [{ type: 'custom' as const, name: 'count' }, { type: 'shell' as const }]
  await collect(inference.streamTurn(turn('responses', { items: longHistory, tools }), still()))
  const { input, store, tools: sent } = double.requests[0]?.body ?? {}
  assert.equal(store, false)
  assert.deepEqual(
    (sent as { type: string; name: string }[]).map(({ type, name }) => [type, name]),
    [
      ['custom', 'count'],
      ['function', 'shell'],
    ],
  )
  const asFunction = (at: number) => {
    const [id, name, args] = calls[at] as (typeof calls)[number]
    return { type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) }
  }
  const answer = ([id, output]: readonly [string, string]) => ({ type: 'function_call_output', call_id: id, output })
  assert.deepEqual(input, [
    ...longHistory
      .slice(0, 2)
      .map((item) => ({ ...item, id: undefined, status: undefined }))
      .map(plain),
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I will see.', annotations: [] }] },
    asFunction(0),
    { type: 'custom_tool_call', call_id: 'call_2', name: 'count', input: '42' },
    asFunction(2),
    asFunction(3),
    asFunction(4),
    { type: 'function_call_output', call_id: 'call_1', output: (longHistory[9] as { output: unknown }).output },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: 'counted' },
    ...outputs.slice(1).map(answer),
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
  ])
})

test('messages: the same conversation in the shape of that wire', async (t) => {
  const { double, inference } = await testInference(t)
  await collect(inference.streamTurn(turn('messages', { items: longHistory }), still()))
  const { system, messages } = (double.requests[0]?.body ?? {}) as {
    system: { text: string }[]
    messages: { role: string; content: Record<string, unknown>[] }[]
  }
  assert.deepEqual(
    system.map(({ text }) => text),
    ['Be brief.'],
  )
  assert.deepEqual(
    messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)]),
    [
      ['user', 'text', 'image', 'document'],
      ['assistant', 'text', 'tool_use', 'tool_use', 'tool_use', 'tool_use', 'tool_use'],
      ['user', 'tool_result', 'tool_result', 'tool_result', 'tool_result', 'tool_result', 'text'],
    ],
  )
  const used = messages[1]?.content.slice(1).map(({ id, name, input }) => [id, name, input])
  assert.deepEqual(
    used,
    calls.map((call) => [...call]),
  )
})

/** As it looks after a way over the wire. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** The reasoning of a turn as the caller keeps it. */
function kept(parts: readonly TurnPart[]): StoredItem {
  const end = parts.find((part) => part.type === 'reasoning-end')
  assert.ok(end?.type === 'reasoning-end' && end.encrypted !== null)
  return { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: end.encrypted }
}

for (const stream of [true, false]) {
  test(`responses: sealed reasoning goes back to its provider only (stream: ${stream})`, async (t) => {
    const { double, inference } = await testInference(t)
    double.queue({ reasoning: 'One.\n\nTwo.', text: 'Yes.' })
    const parts = await collect(inference.streamTurn(turn('responses', { stream }), still()))
    assert.ok(parts.some(({ type }) => type === 'reasoning-break'))
    const items = [userMessage('a'), kept(parts), userMessage('b')]
    await collect(inference.streamTurn(turn('responses', { items }), still()))
    const again = double.requests.at(-1)?.body['input'] as { type: string }[]
    assert.deepEqual(again[1], {
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      encrypted_content: 'sealed-by-the-double',
    })
    await collect(inference.streamTurn(turn('messages', { items }), still()))
    assert.doesNotMatch(JSON.stringify(double.requests.at(-1)?.body), /sealed-by-the-double/)
  })

  test(`messages: signed thinking goes back with its signature (stream: ${stream})`, async (t) => {
    const { double, inference } = await testInference(t)
    double.queue({ reasoning: 'Let me see.', text: 'Yes.' })
    const parts = await collect(inference.streamTurn(turn('messages', { stream }), still()))
    const said: StoredItem = {
      type: 'message',
      id: 'msg_2',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
    }
    await collect(
      inference.streamTurn(
        turn('messages', { items: [userMessage('a'), kept(parts), said, userMessage('b')] }),
        still(),
      ),
    )
    const { messages } = (double.requests.at(-1)?.body ?? {}) as { messages: { content: unknown[] }[] }
    assert.deepEqual(messages[1]?.content, [
      { type: 'thinking', thinking: 'Let me see.', signature: 'signed-by-the-double' },
      { type: 'text', text: 'Yes.' },
    ])
  })
}

test("responses: custom tools are the wire's own, and their input streams", async (t) => {
  const { double, inference } = await testInference(t)
  double.queue({ calls: [{ name: 'count', arguments: 'one two', custom: true }] })
  const tools = [{ type: 'custom' as const, name: 'count' }]
  const parts = await collect(inference.streamTurn(turn('responses', { tools }), still()))
  assert.deepEqual(
    parts.slice(0, -1).map(({ type }) => type),
    ['tool-start', 'tool-delta', 'tool-delta', 'tool-end'],
  )
  const end = parts.at(-2)
  assert.deepEqual(end?.type === 'tool-end' && end.call, { type: 'custom', name: 'count', input: 'one two' })
})
