import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { checkOpenResponse } from './testing/open-response.ts'
import { useDoubleStack } from './testing/use-double-stack.ts'

// What the public suite of the Open Responses form looks at, in our own words, for each kind of provider.
const { stack, double } = useDoubleStack()
const models = ['double-chat', 'double-responses', 'double-anthropic'] as const

/** Without an SDK in between: the bytes are what the form is about. */
async function post(path: string, body: Record<string, unknown>): Promise<globalThis.Response> {
  const reply = await fetch(`${stack().baseURL}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${stack().stack.seeded.projectKey}` },
    body: JSON.stringify(body),
  })
  if (!reply.ok) assert.fail(`${reply.status} ${await reply.text()}`)
  return reply
}

async function create(body: Record<string, unknown>): Promise<Response> {
  const response = (await (await post('/responses', { stream: false, ...body })).json()) as Response
  checkOpenResponse(response)
  return response
}

/** The events of a stream, each under its own name, numbered from zero, with a whole response at the end. */
async function stream(body: Record<string, unknown>): Promise<{ events: ResponseStreamEvent[]; final: Response }> {
  const reply = await post('/responses', { stream: true, ...body })
  assert.match(reply.headers.get('content-type') ?? '', /^text\/event-stream/)
  const records = (await reply.text()).split('\n\n').filter((record) => record.startsWith('event:'))
  const events = records.map((record) => {
    const [name = '', data = ''] = record.split('\n')
    const event = JSON.parse(data.slice('data:'.length)) as ResponseStreamEvent
    assert.equal(name, `event: ${event.type}`)
    return event
  })
  assert.deepEqual(
    events.map((event) => (event as { sequence_number: number }).sequence_number),
    events.map((_event, index) => index),
  )
  const last = events.at(-1)
  assert.ok(last?.type === 'response.completed')
  checkOpenResponse(last.response)
  return { events, final: last.response }
}

const user = (content: unknown) => ({ type: 'message', role: 'user', content })
const lastTold = () => JSON.stringify(double().requests.at(-1)?.body)

function textOf({ output }: Response): string {
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []))
  return parts.map((part) => (part.type === 'output_text' ? part.text : '')).join('')
}

// A declaration without `strict`, as plain clients write it.
const getWeather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather at a place.',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
}
const weatherCall = { calls: [{ name: 'get_weather', arguments: { location: 'Paris, France' } }] }
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

for (const model of models) {
  test(`basic: ${model} answers a message with a whole response`, async () => {
    double().queue('Hello there, friend.')
    const response = await create({ model, input: [user('Greet me in three words.')] })
    assert.deepEqual([response.status, textOf(response)], ['completed', 'Hello there, friend.'])
    assert.ok((response.usage?.total_tokens ?? 0) > 0)
  })

  test(`streaming: ${model} tells its answer in order, and whole at the end`, async () => {
    double().queue('1, 2, 3, 4, 5')
    const { events, final } = await stream({ model, input: [user('Count to five.')] })
    assert.equal(textOf(final), '1, 2, 3, 4, 5')
    const types = events.map(({ type }) => type)
    assert.deepEqual(
      [...new Set(types)],
      [
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ],
    )
    const deltas = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []))
    assert.equal(deltas.join(''), textOf(final))
    assert.ok(deltas.length > 1)
  })

  test(`system: ${model} is told what a system message says`, async () => {
    double().queue('Ahoy!')
    const system = { type: 'message', role: 'system', content: 'You are a pirate.' }
    const response = await create({ model, input: [system, user('Say hello.')] })
    assert.deepEqual([response.status, textOf(response)], ['completed', 'Ahoy!'])
    assert.match(lastTold(), /You are a pirate\./)
  })

  test(`tools: ${model} calls a function that was declared, whole and as a stream`, async () => {
    double().queue(weatherCall, weatherCall)
    const body = { model, input: [user('What is the weather in Paris?')], tools: [getWeather] }
    const whole = await create(body)
    const { events, final } = await stream(body)
    for (const { status, output } of [whole, final]) {
      const [call] = output
      assert.ok(status === 'completed' && call?.type === 'function_call')
      assert.deepEqual([call.name, JSON.parse(call.arguments)], ['get_weather', { location: 'Paris, France' }])
    }
    const types = events.map((event) => ('item' in event ? `${event.type} ${event.item.type}` : event.type))
    for (const type of [
      'response.output_item.added function_call',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done function_call',
    ])
      assert.ok(types.includes(type), type)
  })

  test(`tools: ${model} goes on when the call and its output are sent back`, async () => {
    double().queue(weatherCall, 'Mild.')
    const input = [user('What is the weather in Paris?')]
    const { output } = await create({ model, input, tools: [getWeather], store: false })
    const [call] = output
    assert.ok(call?.type === 'function_call')
    const answer = { type: 'function_call_output', call_id: call.call_id, output: '12 degrees' }
    const after = await create({ model, input: [...input, ...output, answer], tools: [getWeather], store: false })
    assert.equal(textOf(after), 'Mild.')
    assert.match(lastTold(), /12 degrees/)
  })

  test(`image: ${model} is shown a picture`, async () => {
    double().queue('A red dot.')
    const content = [
      { type: 'input_text', text: 'What do you see?' },
      { type: 'input_image', image_url: pixel },
    ]
    const response = await create({ model, input: [user(content)] })
    assert.deepEqual([response.status, textOf(response)], ['completed', 'A red dot.'])
    assert.ok(lastTold().includes(pixel.slice('data:image/png;base64,'.length)))
  })

  test(`multi-turn: ${model} is told what was said before, sent along or stored`, async () => {
    double().queue('Your name is Alice.', 'Nice to meet you.', 'Still Alice.')
    const said = [
      user('My name is Alice.'),
      { type: 'message', role: 'assistant', content: 'Hello Alice!' },
      user('What is my name?'),
    ]
    assert.equal(textOf(await create({ model, input: said })), 'Your name is Alice.')
    assert.match(lastTold(), /Hello Alice!/)
    const { id } = await create({ model, input: 'I am Alice Liddell.' })
    const after = await create({ model, input: 'Who am I?', previous_response_id: id })
    assert.deepEqual([textOf(after), after.previous_response_id], ['Still Alice.', id])
    assert.match(lastTold(), /I am Alice Liddell\..*Nice to meet you\..*Who am I\?/)
  })

  test(`phase: ${model} takes messages that say what they were, and the server keeps it`, async () => {
    double().queue('Two files.')
    const response = await create({
      model,
      input: [
        user('How many files are there?'),
        { type: 'message', role: 'assistant', phase: 'commentary', content: 'I will look.' },
        { type: 'message', role: 'assistant', phase: 'final_answer', content: 'There were three.' },
        user('And now?'),
      ],
    })
    assert.deepEqual([response.status, textOf(response)], ['completed', 'Two files.'])
    assert.match(lastTold(), /I will look\..*There were three\./)
    const { data } = await stack().project().responses.inputItems.list(response.id, { order: 'asc' })
    const phases = data.flatMap((item) => ('phase' in item ? [item.phase] : []))
    assert.deepEqual(phases, ['commentary', 'final_answer'])
  })

  test(`compaction: ${model} goes on from what the endpoint made of the context`, async () => {
    double().queue('The user is Alice and likes slate.', 'Slate.')
    const input = [user('I am Alice.'), { role: 'assistant', content: 'Hello.' }, user('I like slate.')]
    const compacted = (await (await post('/responses/compact', { model, input })).json()) as {
      object: string
      output: { type: string; encrypted_content?: string }[]
      usage: { total_tokens: number }
    }
    assert.equal(compacted.object, 'response.compaction')
    const item = compacted.output.at(-1)
    assert.ok(item?.type === 'compaction' && (item.encrypted_content ?? '') !== '')
    assert.ok(compacted.usage.total_tokens > 0)
    const response = await create({ model, input: [...compacted.output, user('What do I like?')] })
    assert.equal(textOf(response), 'Slate.')
    assert.match(lastTold(), /The user is Alice and likes slate\./)
  })

  test(`compaction: ${model} compacts by itself past a threshold, and the next request may begin there`, async () => {
    double().queue('Long talk about slate.', 'Noted.', 'Slate.')
    const { output } = await create({
      model,
      input: [user('slate '.repeat(1_200)), { role: 'assistant', content: 'Yes.' }, user('Go on.')],
      context_management: [{ type: 'compaction', compact_threshold: 1_000 }],
    })
    assert.deepEqual(
      output.map(({ type }) => type),
      ['compaction', 'message'],
    )
    const response = await create({ model, input: [...output, user('What was it about?')] })
    assert.equal(textOf(response), 'Slate.')
    assert.match(lastTold(), /Long talk about slate\./)
  })
}
