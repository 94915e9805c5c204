import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import { until } from '#platform/http/testing/poll.ts'
import { testApp } from '../../../../test/test-app.ts'
import { SocketClient } from '../testing/socket-client.ts'
import { waitingMax } from './lanes.ts'

const fuzzRuns = 400

test('every frame that is not an event is answered with an error of its own, and the socket goes on', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  const cases: [string | Buffer, number, string, string | null][] = [
    ['not json', 400, 'invalid_json', null],
    ['', 400, 'invalid_json', null],
    ['[1]', 400, 'invalid_type', null],
    ['null', 400, 'invalid_type', null],
    ['"text"', 400, 'invalid_type', null],
    ['{}', 400, 'missing_required_parameter', 'type'],
    ['{"type":7}', 400, 'invalid_type', 'type'],
    ['{"type":"response.cancel"}', 400, 'invalid_value', 'type'],
    [`${'['.repeat(100)}${']'.repeat(100)}`, 400, 'invalid_json', null],
    ['{"type":"response.create","input":"\\u0000"}', 400, 'invalid_value', 'input'],
    [Buffer.from('{"type":"response.create"}'), 400, 'invalid_json', null],
    [`{"type":"response.create","input":"${'x'.repeat(1_100_000)}"}`, 413, 'request_too_large', null],
  ]
  for (const [frame] of cases) client.socket.send(frame)
  for (const [frame, status, code, param] of cases) {
    const [event] = await client.turn()
    const at = String(frame).slice(0, 40)
    assert.deepEqual(
      [event?.type, event?.status, event?.error?.code, event?.error?.param],
      ['error', status, code, param],
      at,
    )
    assert.equal(event?.error?.type, 'invalid_request_error')
  }
  assert.equal((await client.ask({ input: 'still here' })).type, 'response.completed')
})

test('a create is read by the contract of the HTTP call, and its errors name the lane', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  const cases: [Record<string, unknown>, string, string][] = [
    [{ input: 'x', surprise: 1 }, 'unknown_parameter', 'surprise'],
    [{ input: 'x', temperature: 9 }, 'integer_above_max_value', 'temperature'],
    [{ input: 'x', background: true }, 'unsupported_value', 'background'],
    [{ input: 'x', stream: false }, 'unsupported_value', 'stream'],
    [{ input: 'x', generate: 'no' }, 'invalid_type', 'generate'],
    [{}, 'missing_required_parameter', 'input'],
    [{ input: 'x', conversation: 'conv_none' }, 'not_found', 'conversation'],
  ]
  for (const [fields, code, param] of cases) {
    const event = await client.ask({ ...fields, stream_id: 'lane-1' })
    assert.deepEqual([event.type, event.error?.code, event.error?.param], ['error', code, param])
    assert.equal(event.stream_id, 'lane-1')
  }
  for (const bad of ['', 'with space', 'é', 'x'.repeat(257), 7, null]) {
    client.create({ input: 'x', stream_id: bad })
    const [event] = await client.turn()
    assert.deepEqual([event?.type, event?.error?.param], ['error', 'stream_id'], String(bad))
    assert.ok(event !== undefined && !('stream_id' in event))
  }
})

test('steering is refused with what was sent, while the response goes on', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  client.socket.send(
    JSON.stringify({ type: 'response.steer', previous_response_id: 'resp_1', input: 'left', stream_id: 'a' }),
  )
  client.socket.send(JSON.stringify({ type: 'response.steer', input: 7 }))
  client.create({ input: 'on' })
  await client.turn()
  const [steered, malformed] = client.heard.filter(({ type }) => type === 'response.steer.failed')
  assert.deepEqual(steered, {
    type: 'response.steer.failed',
    sequence_number: 0,
    error: {
      type: 'invalid_request_error',
      code: 'steering_not_supported',
      message: 'This server does not steer responses: send the input with the next response.create.',
    },
    steer: { input: 'left', previous_response_id: 'resp_1' },
    stream_id: 'a',
  })
  assert.equal(malformed?.error?.code, 'invalid_input')
})

test('more waiting events than a socket may have are refused, the others carried out in turn', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  const gate = Promise.withResolvers<void>()
  app.double.decide(async () => {
    await gate.promise
    return 'done'
  })
  const sent = waitingMax + 3
  for (let count = 0; count < sent; count += 1) client.create({ input: String(count), store: false, stream_id: 'a' })
  await until('the excess to be refused', () => client.heard.filter(({ type }) => type === 'error').length === 2)
  const [refused] = client.heard.filter(({ type }) => type === 'error')
  assert.deepEqual([refused?.status, refused?.error?.code, refused?.stream_id], [429, 'rate_limit_exceeded', 'a'])
  gate.resolve()
  const done = () => client.heard.filter(({ type }) => type === 'response.completed').length
  await until('the others to be carried out', () => done() === sent - 2)
  assert.equal(app.double.requests.length, sent - 2)
})

test('without a key, with a wrong one and without an upgrade the reply is an ordinary error', async (t) => {
  const app = await testApp(t)
  const refused = async (key: string) => {
    const { socket } = new SocketClient(t, app.baseUrl, key)
    const [, reply] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
    const body = JSON.parse(String(Buffer.concat((await reply.toArray()) as Buffer[]))) as { error: { code: string } }
    return [reply.statusCode, body.error.code]
  }
  assert.deepEqual(await refused('sk-proj-wrong'), [401, 'invalid_api_key'])
  assert.deepEqual(await refused(app.org.adminKey), [401, 'invalid_api_key'])
  const plain = await fetch(`${app.baseUrl}/v1/responses`, { headers: { authorization: `Bearer ${app.project.key}` } })
  const { error } = (await plain.json()) as { error: { code: string } }
  assert.deepEqual([plain.status, error.code, plain.headers.get('upgrade')], [426, 'upgrade_required', 'websocket'])
})

test('a frame beyond 16 MiB ends its socket with 1009, and no other', async (t) => {
  const app = await testApp(t)
  const [large, other] = [await SocketClient.open(t, app), await SocketClient.open(t, app)]
  large.socket.send(Buffer.alloc(16 * 1024 * 1024 + 1))
  assert.equal(await large.closed, 1009)
  assert.equal((await other.ask({ input: 'x' })).type, 'response.completed')
})

test('frames of any content are answered one for one and never end the socket', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  app.double.decide(() => 'ok')
  const field = fc.constantFrom(
    'type',
    'input',
    'stream_id',
    'generate',
    'tools',
    'previous_response_id',
    'store',
    'include',
  )
  const event = fc
    .dictionary(field, fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('response.create', 'resp_x', false)))
    .map((fields) => JSON.stringify({ model: 'double-chat', ...fields, type: fields['type'] ?? 'response.create' }))
  const frame = fc.oneof(
    event,
    fc.string().map((text) => text.slice(0, 200)),
    fc.json({ maxDepth: 4 }),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  )
  const ends = () =>
    client.heard.filter(({ type }) =>
      ['error', 'response.completed', 'response.failed', 'response.incomplete', 'response.steer.failed'].includes(type),
    ).length
  let sent = 0
  await fc.assert(
    fc.asyncProperty(frame, async (given) => {
      client.socket.send(given)
      sent += 1
      await until('an answer', () => ends() === sent || client.socket.readyState !== client.socket.OPEN)
      assert.equal(ends(), sent)
    }),
    { numRuns: fuzzRuns },
  )
  const errors = client.heard.filter(({ type, status }) => type === 'error' && (status ?? 500) >= 500)
  assert.deepEqual(errors, [])
})
