import type { ErrorBody } from '@switchyard/contracts/errors.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { until } from './testing/poll.ts'
import { RawClient, request } from './testing/raw-client.ts'
import { key, testServer, thing, type TestServer } from './testing/test-server.ts'
import { socketRoute } from './websocket.ts'

const talk = thing({ id: 'things.talk', path: '/v1/talk', query: z.strictObject({ model: z.string() }) })

/** Says back what it hears. */
const echo = socketRoute(talk, (socket, { scope, query, requestId }) => {
  socket.send(JSON.stringify({ keyId: scope.keyId, query, requestId }))
  socket.on('message', (data: Buffer) => socket.send(data.toString('utf8')))
})

function open(app: TestServer, path = '/v1/talk?model=m', headers: Record<string, string> = key): WebSocket {
  const socket = new WebSocket(`ws://127.0.0.1:${app.port}${path}`, { headers })
  // Ending one that never opened is an error to the client, and what several tests do.
  return socket.on('error', () => undefined)
}

async function refused(app: TestServer, path: string, headers: Record<string, string>) {
  const socket = open(app, path, headers)
  const [, reply] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  const chunks = (await reply.toArray()) as Buffer[]
  const { error } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ErrorBody
  assert.match(String(reply.headers['x-request-id']), /^req_[0-9a-f]{32}$/)
  socket.terminate()
  return [reply.statusCode, error.code, error.param]
}

test('a socket opens for a good key and knows who is on it', async (t) => {
  const app = await testServer(t, { sockets: [echo] })
  const socket = open(app)
  const upgraded = once(socket, 'upgrade')
  const [hello] = (await once(socket, 'message')) as [Buffer]
  const said = JSON.parse(hello.toString('utf8')) as { keyId: string; query: unknown; requestId: string }
  assert.deepEqual([said.keyId, said.query], ['key_1', { model: 'm' }])
  const [reply] = (await upgraded) as [IncomingMessage]
  assert.equal(reply.headers['x-request-id'], said.requestId)
  socket.send('again')
  assert.equal(String(((await once(socket, 'message')) as [Buffer])[0]), 'again')
  socket.close(1000)
  await once(socket, 'close')
  await until('its end to be logged', async () => (await app.lines()).some(({ msg }) => msg === 'socket closed'))
  const lines = (await app.lines()).map(({ msg, operation, code }) => ({ msg, operation, code }))
  assert.deepEqual(lines, [
    { msg: 'socket open', operation: 'things.talk', code: undefined },
    { msg: 'socket closed', operation: 'things.talk', code: 1000 },
  ])
  assert.deepEqual(app.observed, [{ operation: 'things.talk', status: 101 }])
})

test('a refused upgrade is an ordinary reply with the ordinary error', async (t) => {
  const app = await testServer(t, { sockets: [echo] })
  assert.deepEqual(await refused(app, '/v1/talk?model=m', {}), [401, null, null])
  assert.deepEqual(await refused(app, '/v1/talk?model=m', { authorization: 'Bearer x' }), [
    401,
    'invalid_api_key',
    null,
  ])
  assert.deepEqual(await refused(app, '/v1/talk?model=m', { authorization: 'Bearer sk-admin-good' }), [
    401,
    'invalid_api_key',
    null,
  ])
  assert.deepEqual(await refused(app, '/v1/talk?model=m', { authorization: 'Bearer sk-proj-narrow' }), [
    403,
    'insufficient_permissions',
    null,
  ])
  assert.deepEqual(await refused(app, '/v1/nothing', key), [404, 'not_found', null])
  assert.deepEqual(await refused(app, '/v1/talk', key), [400, 'missing_required_parameter', 'model'])
  assert.deepEqual(await refused(app, '/v1/talk?model=m&x=1', key), [400, 'unknown_parameter', 'x'])
  assert.deepEqual(await refused(app, '/v1/talk?model=%00', key), [400, 'invalid_value', 'model'])
  assert.deepEqual(await refused(app, '/v1/talk?model=%zz', key), [400, 'invalid_value', null])
})

test('a handshake that is not one is refused in the usual shape', async (t) => {
  const app = await testServer(t, { sockets: [echo] })
  const client = new RawClient(app.port).write(
    request('GET /v1/talk?model=m', { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }),
  )
  const reply = await client.reply()
  assert.deepEqual([reply.status, reply.headers['content-type']], [400, 'application/json; charset=utf-8'])
  assert.match(reply.body, /Sec-WebSocket-Key/)
  client.close()
})

test('a frame that is too large ends the socket with 1009', async (t) => {
  const app = await testServer(t, { sockets: [echo] })
  const socket = open(app)
  await once(socket, 'message')
  socket.send(Buffer.alloc(16 * 1024 * 1024 + 1))
  const [code] = (await once(socket, 'close')) as [number]
  assert.equal(code, 1009)
})

test('closing the server tells every socket with 1001 and takes no more', async (t) => {
  const app = await testServer(t, { sockets: [echo] })
  const sockets = [open(app), open(app)]
  await Promise.all(sockets.map((socket) => once(socket, 'message')))
  const codes = Promise.all(sockets.map(async (socket) => ((await once(socket, 'close')) as [number])[0]))
  await app.server.close()
  assert.deepEqual(await codes, [1001, 1001])
})

test('a socket with something in hand is told only when that has ended', async (t) => {
  const gate = Promise.withResolvers<void>()
  const busy = socketRoute(talk, (socket) => {
    socket.send('hello')
    return { drain: () => gate.promise.then(() => socket.send('done')) }
  })
  const app = await testServer(t, { sockets: [busy] })
  const socket = open(app)
  await once(socket, 'message')
  const last = once(socket, 'message')
  const code = once(socket, 'close').then(([given]) => given as number)
  const closed = app.server.close()
  gate.resolve()
  assert.equal(String(((await last) as [Buffer])[0]), 'done')
  assert.equal(await code, 1001)
  await closed
})

test('a plain GET of a socket is told to upgrade', async (t) => {
  const app = await testServer(t, { sockets: [echo] })
  const reply = await fetch(`${app.url}/v1/talk?model=m`, { headers: key })
  const { error } = (await reply.json()) as ErrorBody
  assert.deepEqual([reply.status, reply.headers.get('upgrade'), error.code], [426, 'websocket', 'upgrade_required'])
  assert.equal((await fetch(`${app.url}/v1/talk`, { method: 'POST', headers: key })).status, 404)
})

test('an upgrade that is still being admitted when the server closes is refused', async (t) => {
  const gate = Promise.withResolvers<void>()
  let asked = false
  const app = await testServer(t, {
    sockets: [echo],
    authenticate: async () => {
      asked = true
      await gate.promise
      return {
        scope: { kind: 'project_key', keyId: 'key_1', orgId: 'org-1', projectId: 'proj_1' } as never,
        granted: null,
      }
    },
  })
  const socket = open(app)
  const answered = once(socket, 'unexpected-response')
  await until('it to be asked about', () => asked)
  const closed = app.server.close()
  gate.resolve()
  const [, reply] = (await answered) as [unknown, IncomingMessage]
  assert.deepEqual([reply.statusCode, reply.headers['retry-after']], [503, '1'])
  socket.terminate()
  await closed
})

test('no more sockets are opened than allowed, also when they come at once', async (t) => {
  const app = await testServer(t, { sockets: [echo], options: { socketsMax: 2 } })
  const sockets = Array.from({ length: 5 }, () => open(app))
  const outcomes = await Promise.all(
    sockets.map((socket) =>
      Promise.race([
        once(socket, 'message').then(() => 101),
        once(socket, 'unexpected-response').then((args) => (args as [unknown, IncomingMessage])[1].statusCode),
      ]),
    ),
  )
  assert.deepEqual(outcomes.map(String).toSorted(), ['101', '101', '503', '503', '503'])
  for (const socket of sockets) socket.terminate()
})

test('a route that fails to open its socket ends it and nothing else', async (t) => {
  const broken = socketRoute(talk, () => {
    throw new Error('broken')
  })
  const app = await testServer(t, { sockets: [broken] })
  const [code] = (await once(open(app), 'close')) as [number]
  assert.equal(code, 1011)
  assert.ok((await app.lines()).some(({ level, msg }) => level === 'error' && msg === 'socket failed to open'))
})
