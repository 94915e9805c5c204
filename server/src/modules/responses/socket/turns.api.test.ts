import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { listInputItems, retrieveResponse } from '@switchyard/contracts/responses/operations.ts'
import { OpenAI } from 'openai'
import { ResponsesWebSocketSession } from 'openai/lib/responses/responses-websocket-session'
import { ResponsesWS } from 'openai/resources/responses/ws'
import pg from 'pg'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { SocketClient, textOf } from '../testing/socket-client.ts'

/** The SDK's own socket, with its helper that refuses what does not fit. */
async function sdkSession(t: TestContext, app: TestApp): Promise<ResponsesWebSocketSession> {
  const socket = new ResponsesWS(new OpenAI({ baseURL: `${app.baseUrl}/v1`, apiKey: app.project.key }))
  t.after(() => socket.close())
  const limits = { maxLanes: 4, maxBufferedEvents: 1_000, maxBufferedBytes: 1_000_000 }
  const session = new ResponsesWebSocketSession(socket, limits)
  await new Promise<void>((resolve) => socket.socket.on('open', () => resolve()))
  return session
}

const rolesOf = (body: Record<string, unknown> | undefined) =>
  ((body?.['messages'] ?? []) as { role: string }[]).map(({ role }) => role)

// S3-9.2-e
test('a create is answered by the events of a stream, numbered from 0, and stored', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  client.create({ input: 'one two', stream: true })
  const events = await client.turn()
  assert.deepEqual(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_event, index) => index),
  )
  assert.deepEqual(
    events.map(({ type }) => type),
    [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ],
  )
  assert.ok(events.every((event) => !('stream_id' in event)))
  const stored = await app.call(retrieveResponse, { params: { response_id: events.at(-1)?.response?.id ?? '' } })
  assert.deepEqual([stored.status, stored.body.status], [200, 'completed'])
})

test("the SDK's socket creates and continues, in lanes, through its strict helper", async (t) => {
  const app = await testApp(t)
  const session = await sdkSession(t, app)
  const lanes = [session.lane(), session.lane('left'), session.lane('right.2')]
  const chains = lanes.map(async (lane, index) => {
    let previous: string | undefined
    for (const word of ['first', 'second', 'third']) {
      const id = previous === undefined ? {} : { previous_response_id: previous }
      lane.create({ model: 'double-chat', input: `${word} ${index}`, store: index === 1, ...id })
      const said = await lane.finalResponse()
      assert.equal(said.output_text, `${word} ${index}`)
      previous = said.id
    }
  })
  await Promise.all(chains)
  const longest = app.double.requests.filter(({ body }) => rolesOf(body).length === 5)
  assert.equal(longest.length, 3)
})

test("the SDK's lane raises an error event with its code and goes on", async (t) => {
  const app = await testApp(t)
  const lane = (await sdkSession(t, app)).lane('a')
  lane.create({ model: 'no-such-model', input: 'x' })
  await assert.rejects(lane.finalResponse(), (error: { error?: { error?: { code?: string } } }) => {
    assert.equal(error.error?.error?.code, 'model_not_found')
    return true
  })
  lane.create({ model: 'double-chat', input: 'again' })
  assert.equal((await lane.finalResponse()).output_text, 'again')
})

test('events of one lane come one response after the other, those of two lanes side by side', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  app.double.decide((body) => {
    const text = JSON.stringify(body['messages'])
    return text.includes('slow') ? { text: 'a b c d e f g h', slowMs: 30 } : 'quick'
  })
  client.create({ input: 'slow', stream_id: 'A' })
  client.create({ input: 'next', stream_id: 'A' })
  client.create({ input: 'other', stream_id: 'B' })
  const [first, other] = await Promise.all([client.turn('A'), client.turn('B')])
  const second = await client.turn('A')
  assert.deepEqual(
    [first, other, second].map((turn) => turn.at(-1)?.type),
    Array(3).fill('response.completed'),
  )
  const ids = client.heard.filter(({ stream_id }) => stream_id === 'A').map(({ sequence_number }) => sequence_number)
  assert.deepEqual(ids, [...first.keys(), ...second.keys()])
  const order = client.heard.map((event) => event.stream_id)
  assert.ok(order.lastIndexOf('B') < order.lastIndexOf('A'), 'the quick lane did not wait for the slow one')
  assert.ok(client.heard.every(({ stream_id }) => stream_id === 'A' || stream_id === 'B'))
})

test('a turn that continues on its socket reads no history from the database', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  const first = await client.ask({ input: 'first' })
  const query = t.mock.method(pg.Client.prototype, 'query')
  const sent = () =>
    query.mock.calls.map(({ arguments: [given] }) =>
      typeof given === 'string' ? given : (given as { text: string }).text,
    )
  const second = await client.ask({ input: 'second', previous_response_id: first.response?.id })
  const overSocket = sent()
  const reads = overSocket.filter((text) => /^\s*(with recursive|select)\b/i.test(text) && text.includes('responses.'))
  assert.deepEqual(reads, [])
  assert.ok(
    overSocket.some((text) => text.includes('insert into responses.response')),
    'statements were counted',
  )
  assert.deepEqual(rolesOf(app.double.requests.at(-1)?.body), ['user', 'assistant', 'user'])

  // On another socket the same turn is read from the store, and says the same.
  query.mock.resetCalls()
  const other = await SocketClient.open(t, app)
  await other.ask({ input: 'third', previous_response_id: second.response?.id })
  assert.ok(sent().some((text) => text.includes('with recursive chain')))
  assert.equal(rolesOf(app.double.requests.at(-1)?.body).length, 5)
})

test('generate: false prepares a response that a later turn continues', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  for (const store of [true, false]) {
    const asked = app.double.requests.length
    client.create({ input: 'Remember: amber.', generate: false, store })
    const events = await client.turn()
    const prepared = events.at(-1)
    assert.deepEqual(
      events.map(({ type, response }) => [type, response?.status]),
      [
        ['response.created', 'in_progress'],
        ['response.in_progress', 'in_progress'],
        ['response.completed', 'completed'],
      ],
    )
    assert.deepEqual(prepared?.response?.output, [])
    assert.equal(app.double.requests.length, asked, 'no model was asked')
    const id = prepared?.response?.id ?? ''
    const kept = await app.call(listInputItems, { params: { response_id: id } })
    assert.equal(kept.status, store ? 200 : 404)
    const next = await client.ask({ input: 'What was it?', previous_response_id: id, store })
    assert.equal(textOf(next), 'What was it?')
    assert.match(JSON.stringify(app.double.requests.at(-1)?.body), /Remember: amber/)
  }
})

test('a stored response cannot continue one that is not stored', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  const first = await client.ask({ input: 'a', store: false })
  const refused = await client.ask({ input: 'b', previous_response_id: first.response?.id })
  assert.deepEqual([refused.status, refused.error?.code, refused.error?.param], [400, 'invalid_value', 'store'])
})

test('a ninth response of a lane takes the place of the first, which is read from the store again', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  const ids: string[] = []
  for (let turn = 0; turn < 9; turn += 1) {
    ids.push((await client.ask({ input: `t${turn}`, store: turn === 0 })).response?.id ?? '')
  }
  const stored = await client.ask({ input: 'x', previous_response_id: ids[0], store: false })
  assert.equal(stored.type, 'response.completed')
  const gone = await client.ask({ input: 'x', previous_response_id: ids[1], store: false })
  assert.equal(gone.error?.code, 'previous_response_not_found')
  const kept = await client.ask({ input: 'x', previous_response_id: ids[8], store: false })
  assert.equal(kept.type, 'response.completed')
})

test('a context kept on a socket is nothing to another project', async (t) => {
  const app = await testApp(t)
  const mine = await SocketClient.open(t, app)
  const first = await mine.ask({ input: 'secret' })
  const theirs = await SocketClient.open(t, { baseUrl: app.baseUrl, project: app.other })
  const refused = await theirs.ask({ input: 'x', previous_response_id: first.response?.id })
  assert.equal(refused.error?.code, 'previous_response_not_found')
})
