import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { watchSocket } from './socket-watch.ts'
import { until } from './testing/poll.ts'

async function pair(t: TestContext, options: { autoPong: boolean }): Promise<{ server: WebSocket; client: WebSocket }> {
  const listener = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.after(() => listener.close())
  await once(listener, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(listener.address() as AddressInfo).port}`, options)
  t.after(() => client.terminate())
  const [server] = (await once(listener, 'connection')) as [WebSocket]
  await once(client, 'open')
  return { server, client }
}

test('a client that answers is left alone', async (t) => {
  const { server, client } = await pair(t, { autoPong: true })
  let pings = 0
  client.on('ping', () => (pings += 1))
  watchSocket(server, 20)
  await until('several pings', () => pings > 3)
  assert.equal(server.readyState, WebSocket.OPEN)
  server.terminate()
})

test('a client that leaves two pings unanswered is gone', async (t) => {
  const { server, client } = await pair(t, { autoPong: false })
  let pings = 0
  client.on('ping', () => (pings += 1))
  watchSocket(server, 20)
  await until('the socket to end', () => server.readyState === WebSocket.CLOSED)
  assert.equal(pings, 2)
})

test('a client that stops reading is cut before it fills memory', async (t) => {
  const { server, client } = await pair(t, { autoPong: true })
  client.pause()
  for (let sent = 0; sent < 40; sent += 1) server.send(Buffer.alloc(1024 * 1024))
  watchSocket(server, 20)
  await until('the socket to end', () => server.readyState === WebSocket.CLOSED)
})
