import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { retrieveResponse } from '@switchyard/contracts/responses/operations.ts'
import { OpenAI } from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { until } from '#platform/http/testing/poll.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { SocketClient } from '../testing/socket-client.ts'
import { runningMax } from './lanes.ts'

/** Enough of them are more than all buffers on the way hold together. */
const textOf = (words: number) => `${'w'.repeat(4_000)} `.repeat(words)
const words = 5_000

async function statusOf(app: TestApp, id: string): Promise<string> {
  return (await app.call(retrieveResponse, { params: { response_id: id } })).body.status
}

/** A client that reads nothing from the first event on. */
async function stopReading(t: TestContext, app: TestApp, text: string): Promise<{ client: SocketClient; id: string }> {
  const client = await SocketClient.open(t, app)
  app.double.queue({ text })
  client.create({ input: 'long' })
  await until('the response to begin', () => client.heard.length > 2)
  client.socket.pause()
  return { client, id: client.heard[0]?.response?.id ?? '' }
}

test('a socket at the end of its lifetime lets the response end, says so and closes with 1000', async (t) => {
  const app = await testApp(t, { SWITCHYARD_RESPONSES_SOCKET_LIFETIME_MS: '300' })
  const client = await SocketClient.open(t, app)
  app.double.queue({ text: 'a b c d e f g h i j', slowMs: 60 })
  client.create({ input: 'long', stream_id: 'a' })
  client.create({ input: 'too late', stream_id: 'a' })
  assert.equal(await client.closed, 1000)
  const ends = client.heard.filter(({ type }) => type === 'error' || type === 'response.completed')
  assert.deepEqual(
    ends.map(({ type, stream_id, error }) => [type, stream_id, error?.code]),
    [
      ['error', 'a', 'websocket_connection_limit_reached'],
      ['response.completed', 'a', undefined],
      ['error', undefined, 'websocket_connection_limit_reached'],
    ],
  )
})

test('the SDK hears of the limit as an error with its code, and of the close that it does not reconnect on', async (t) => {
  const app = await testApp(t, { SWITCHYARD_RESPONSES_SOCKET_LIFETIME_MS: '200' })
  const sdk = new OpenAI({ baseURL: `${app.baseUrl}/v1`, apiKey: app.project.key })
  const socket = new ResponsesWS(sdk, { reconnect: { maxRetries: 3, onReconnecting: () => undefined } })
  const codes: unknown[] = []
  socket.on('error', ({ error }) => codes.push((error as { error?: { code?: string } } | null)?.error?.code))
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  assert.equal(await closed, 1000)
  assert.deepEqual(codes, ['websocket_connection_limit_reached'])
})

test('a response whose client leaves is cancelled, and its provider let go', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  app.double.queue({ text: 'word '.repeat(1_000), slowMs: 20 })
  client.create({ input: 'long' })
  await until('the response to begin', () => client.heard.length > 4)
  client.socket.terminate()
  const id = client.heard[0]?.response?.id ?? ''
  await until('it to be cancelled', async () => (await statusOf(app, id)) === 'cancelled')
  await until('the provider to be let go', () => app.double.open() === 0)
})

test('a reader that stops slows its own provider and nobody else, and is cut with 1013', async (t) => {
  const app = await testApp(t, { SWITCHYARD_RESPONSES_SOCKET_STALL_MS: '1500' })
  const { client, id } = await stopReading(t, app, textOf(words))
  const other = await SocketClient.open(t, app)
  assert.equal((await other.ask({ input: 'beside it' })).type, 'response.completed')
  assert.equal(app.double.open(), 1, 'the provider still waits to be read')
  await until('the response to be cancelled', async () => (await statusOf(app, id)) === 'cancelled')
  await until('its provider to be let go', () => app.double.open() === 0)
  client.socket.resume()
  assert.equal(await client.closed, 1013)
  const heard = client.heard.filter(({ type }) => type === 'response.output_text.delta').length
  assert.ok(heard < words, `${heard} events were on their way`)
  assert.equal((await other.ask({ input: 'after it' })).type, 'response.completed')
})

test('a reader that goes on in time gets every event', async (t) => {
  const app = await testApp(t)
  const longText = textOf(2_000)
  const { client } = await stopReading(t, app, longText)
  client.socket.resume()
  const events = await client.turn()
  assert.equal(events.at(-1)?.type, 'response.completed')
  const text = events.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')).join('')
  assert.equal(text.length, longText.length)
})

test('a server that goes away lets the response end, refuses the next and closes with 1001', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  app.double.queue({ text: 'a b c d e f g h i j', slowMs: 60 })
  client.create({ input: 'long' })
  await until('the response to begin', () => client.heard.length > 2)
  const drained = app.drain()
  client.create({ input: 'too late', stream_id: 'b' })
  assert.equal(await client.closed, 1001)
  assert.equal(await drained, true)
  assert.ok(client.heard.some(({ type }) => type === 'response.completed'))
  const refused = client.heard.find(({ stream_id }) => stream_id === 'b')
  assert.deepEqual([refused?.type, refused?.status, refused?.error?.code], ['error', 503, 'server_overloaded'])
})

test('what has not ended when the server stops is cancelled, and its client told with 1001', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  app.double.queue({ text: 'a b c', after: 2, trouble: 'hang' })
  client.create({ input: 'endless' })
  await until('the response to begin', () => client.heard.length > 2)
  await app.wired.responses.parts.find(({ name }) => name === 'response sockets')?.stop?.()
  assert.equal(await client.closed, 1001)
  assert.equal(await statusOf(app, client.heard[0]?.response?.id ?? ''), 'cancelled')
  assert.doesNotMatch(await app.log(), /"level":"error"/)
})

test('more lanes than may run at once are all carried out', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  let most = 0
  app.double.decide(() => {
    most = Math.max(most, app.double.open())
    return { text: 'a b', slowMs: 20 }
  })
  const lanes = Array.from({ length: runningMax + 8 }, (_none, index) => `lane-${index}`)
  for (const lane of lanes) client.create({ input: 'x', store: false, stream_id: lane })
  const ends = await Promise.all(lanes.map(async (lane) => (await client.turn(lane)).at(-1)?.type))
  assert.deepEqual(new Set(ends), new Set(['response.completed']))
  assert.ok(most <= runningMax, `${most} ran at once`)
})
