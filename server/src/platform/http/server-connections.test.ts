import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { z } from 'zod'
import { keepTls } from '../../../../dev/tls.ts'
import { route } from './route.ts'
import { until } from './testing/poll.ts'
import { RawClient, request } from './testing/raw-client.ts'
import { testServer, thing, type TestServer } from './testing/test-server.ts'

const create = thing({ id: 'things.create', method: 'POST', body: z.strictObject({ name: z.string() }) })
const get = route(thing({}), async () => ({ ok: true }))
const json = (body: string) => ({ 'content-type': 'application/json', 'content-length': String(body.length) })
const errorOf = (body: string) => (JSON.parse(body) as { error: { code: string | null; message: string } }).error

/** A route that answers only when the test says so. */
function held(): { route: ReturnType<typeof route>; arrived: () => number; answer: () => void } {
  const gate = Promise.withResolvers<void>()
  let arrived = 0
  const slow = route(thing({ path: '/v1/slow' }), async () => {
    arrived += 1
    await gate.promise
    return { slow: true }
  })
  return { route: slow, arrived: () => arrived, answer: gate.resolve }
}

test('a connection goes on after every fault whose body was read', async (t) => {
  const app = await testServer(t, { routes: [get, route(create, async () => ({}))], options: { bodyBytesMax: 1_000 } })
  const client = new RawClient(app.port)
  const send = async (text: string) => {
    const reply = await client.write(text).reply()
    assert.notEqual(reply.headers['connection'], 'close')
    return reply.status
  }
  assert.equal(await send(request('GET /v1/nothing')), 404)
  assert.equal(await send(request('GET /v1/things', { authorization: '' })), 401)
  assert.equal(await send(request('PUT /v1/things')), 405)
  assert.equal(await send(request('POST /v1/things', json('{'), '{')), 400)
  assert.equal(await send(request('POST /v1/things', json('{}'), '{}')), 400)
  assert.equal(await send(request('GET /v1/%zz')), 404)
  assert.equal(await send(request('GET /v1/things')), 200)
  client.close()
})

test('a connection ends with a fault whose body was not read, so that nobody takes the rest for a request', async (t) => {
  const app = await testServer(t, { routes: [get, route(create, async () => ({}))], options: { bodyBytesMax: 1_000 } })
  for (const head of [
    request('POST /v1/things', { ...json(''), 'content-length': '2000' }),
    request('POST /v1/nothing', { ...json(''), 'content-length': '500' }),
    request('POST /v1/things', { ...json(''), 'content-length': '500', authorization: '' }),
  ]) {
    const client = new RawClient(app.port)
    const reply = await client.write(head).write('GET /v1/things HTTP/1.1\r\n').reply()
    assert.equal(reply.headers['connection'], 'close')
    assert.equal(await client.rest(), '')
  }
})

test('requests sent ahead are answered in order', async (t) => {
  const slow = held()
  const app = await testServer(t, { routes: [slow.route, get] })
  const client = new RawClient(app.port).write(
    request('GET /v1/slow') + request('GET /v1/nothing') + request('GET /v1/things'),
  )
  await until('the first to arrive', () => slow.arrived() === 1)
  slow.answer()
  const statuses = [await client.reply(), await client.reply(), await client.reply()].map(({ status }) => status)
  assert.deepEqual(statuses, [200, 404, 200])
  client.close()
})

test('every request is logged, also one that waited behind another when its connection ended', async (t) => {
  const slow = held()
  const app = await testServer(t, { routes: [slow.route, get] })
  const client = new RawClient(app.port).write(request('GET /v1/slow') + request('GET /v1/things'))
  await until('the first to arrive', () => slow.arrived() === 1)
  client.close()
  await until('both to be logged', () => app.observed.length === 2)
  assert.deepEqual(
    app.observed.map(({ status }) => status),
    [499, 499],
  )
  slow.answer()
})

test('what is not HTTP is answered in the usual shape, and the connection ends', async (t) => {
  const app = await testServer(t, { routes: [get] })
  for (const text of [
    '\u0016\u0003\u0001 hello',
    'GET\r\n\r\n',
    'GET /v1/things HTTP/9.9\r\n\r\n',
    'FOO /v1/things HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /v1/things HTTP/1.1\r\nbad header\r\n\r\n',
    'POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
  ]) {
    const client = new RawClient(app.port).write(text)
    const reply = await client.reply()
    assert.deepEqual([reply.status, errorOf(reply.body).message], [400, 'Malformed HTTP request.'], text)
    assert.match(reply.headers['x-request-id'] ?? '', /^req_[0-9a-f]{32}$/)
    assert.deepEqual(
      [reply.headers['connection'], reply.headers['content-type']],
      ['close', 'application/json; charset=utf-8'],
    )
    await client.rest()
  }
  assert.equal(app.observed.length, 6)
})

test('headers without end are refused as too large, and the client gets to read so', async (t) => {
  const app = await testServer(t, { routes: [get] })
  for (let round = 0; round < 5; round += 1) {
    const client = new RawClient(app.port).write(`GET /v1/things HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(2_000_000)}`)
    const reply = await client.reply()
    assert.deepEqual([reply.status, errorOf(reply.body).code], [431, 'request_too_large'])
    client.close()
  }
  const url = new RawClient(app.port).write(request(`GET /v1/things?${'x'.repeat(9_000)}`))
  assert.equal((await url.reply()).status, 413)
  url.close()
})

test('a request without a Host is refused, unless it is of a time that had none', async (t) => {
  const app = await testServer(t, { routes: [get] })
  const modern = new RawClient(app.port).write('GET /v1/things HTTP/1.1\r\nauthorization: Bearer sk-proj-good\r\n\r\n')
  const reply = await modern.reply()
  assert.deepEqual([reply.status, errorOf(reply.body).message], [400, 'The request has no Host header.'])
  modern.close()
  const old = new RawClient(app.port).write('GET /v1/things HTTP/1.0\r\nauthorization: Bearer sk-proj-good\r\n\r\n')
  assert.match(await old.rest(), /^HTTP\/1\.1 200 /)
})

test('an expectation or an upgrade that we do not know does not get in the way', async (t) => {
  const app = await testServer(t, { routes: [get, route(create, async ({ body }) => body)] })
  const client = new RawClient(app.port)
  client.write(
    request('GET /v1/things', {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAAQAAP__',
    }),
  )
  assert.equal((await client.reply()).status, 200)
  client.close()
  const odd = new RawClient(app.port).write(request('GET /v1/things', { expect: 'miracles' }))
  assert.equal((await odd.reply()).status, 200)
  odd.close()
  const patient = new RawClient(app.port).write(
    request('POST /v1/things', { ...json('{"name":"a"}'), expect: '100-continue' }),
  )
  assert.equal((await patient.reply()).status, 100)
  assert.equal((await patient.write('{"name":"a"}').reply()).status, 200)
  patient.close()
})

test('headers and bodies that come too slowly are answered 408', async (t) => {
  const app = await testServer(t, {
    routes: [get, route(create, async () => ({}))],
    options: { headersTimeoutMs: 100, requestTimeoutMs: 200 },
  })
  const headers = new RawClient(app.port).write('GET /v1/things HTTP/1.1\r\nhost: x\r\n')
  const body = new RawClient(app.port).write(request('POST /v1/things', json('{"name":"a"}'), '{"na'))
  for (const client of [headers, body]) {
    const reply = await client.reply()
    assert.deepEqual([reply.status, errorOf(reply.body).code], [408, 'request_timeout'])
    assert.match(reply.headers['x-request-id'] ?? '', /^req_/)
    await client.rest()
  }
})

test('bytes that are not HTTP never pass for the reply to the request before them', async (t) => {
  const slow = held()
  const app = await testServer(t, { routes: [slow.route] })
  const client = new RawClient(app.port).write(request('GET /v1/slow'))
  await until('the request to arrive', () => slow.arrived() === 1)
  assert.equal(await client.write('\u0000garbage\r\n\r\n').rest(), '')
  slow.answer()
})

test('no more connections are taken than allowed', async (t) => {
  const app = await testServer(t, { routes: [get], options: { connectionsMax: 2 } })
  const clients = [new RawClient(app.port), new RawClient(app.port)]
  for (const client of clients) assert.equal((await client.write(request('GET /v1/things')).reply()).status, 200)
  const third = new RawClient(app.port).write(request('GET /v1/things'))
  assert.equal(await third.rest(), '')
  for (const client of clients) client.close()
})

test('closing waits for what is in hand, says so in its reply, and ends everything else at once', async (t) => {
  const slow = held()
  const app = await testServer(t, { routes: [slow.route, get] })
  const busy = new RawClient(app.port).write(request('GET /v1/slow'))
  const idle = new RawClient(app.port)
  await idle.write(request('GET /v1/things')).reply()
  const silent = new RawClient(app.port)
  await until('all to be there', () => slow.arrived() === 1 && silent.socket.readyState === 'open')
  const closed = app.server.close()
  assert.equal(await idle.rest(), '')
  assert.equal(await silent.rest(), '')
  await assert.rejects(fetch(`${app.url}/v1/things`))
  let done = false
  void closed.then(() => (done = true))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(done, false, 'a request is in hand')
  slow.answer()
  const reply = await busy.reply()
  assert.deepEqual([reply.status, reply.headers['connection']], [200, 'close'])
  await closed
})

test('a request that meets a closing server on an idle connection is answered, and told that the connection ends', async (t) => {
  const app = await testServer(t, { routes: [get], options: { idleGraceMs: 200 } })
  const inUse = new RawClient(app.port)
  const unused = new RawClient(app.port)
  for (const client of [inUse, unused]) await client.write(request('GET /v1/things')).reply()
  const closed = app.server.close()
  await assert.rejects(fetch(`${app.url}/v1/things`))
  const reply = await inUse.write(request('GET /v1/things')).reply()
  assert.deepEqual([reply.status, reply.headers['connection']], [200, 'close'])
  assert.equal(await inUse.rest(), '')
  assert.equal(unused.ended, false)
  await closed
  assert.equal(await unused.rest(), '')
})

test('closing does not wait for a client that keeps its connection after a long reply', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { EventStream } = await import('./sse.ts')
  const stream = route(
    thing({}),
    async () =>
      new EventStream(
        (async function* () {
          yield { data: 1 }
          await gate.promise
          yield { data: 2 }
        })(),
      ),
  )
  const app = await testServer(t, { routes: [stream] })
  const client = new RawClient(app.port).write(request('GET /v1/things'))
  await until('the stream to begin', () => client.received.includes('data: 1'))
  const closed = app.server.close()
  gate.resolve()
  await closed
  assert.match(await client.rest(), /data: 2/)
})

test('closing again is closing once', async (t) => {
  const app = await testServer(t, { routes: [get] })
  await Promise.all([app.server.close(), app.server.close()])
  await app.server.close()
})

test('a port that is taken is an error of the start', async (t) => {
  const app = await testServer(t, { routes: [get] })
  const second = await testServer(t, { routes: [get] })
  await assert.rejects(second.server.listenTls({ host: '127.0.0.1', port: app.port }, await certificate(t)), {
    code: 'EADDRINUSE',
  })
})

async function certificate(t: TestContext): Promise<{ ca: string; cert: string; key: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-tls-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const files = await keepTls(folder)
  const [ca, cert, key] = await Promise.all([files.ca, files.cert, files.key].map((file) => readFile(file, 'utf8')))
  return { ca: ca!, cert: cert!, key: key! }
}

function getOverTls(port: number, ca: string): Promise<{ status: number; id: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer sk-proj-good' }
    httpsRequest({ host: 'localhost', port, path: '/v1/things', ca, headers, agent: false }, (reply) => {
      reply
        .resume()
        .on('end', () => resolve({ status: reply.statusCode ?? 0, id: String(reply.headers['x-request-id']) }))
    })
      .on('error', reject)
      .end()
  })
}

test('the TLS listener answers as the plain one does, and ends with it', async (t) => {
  const app: TestServer = await testServer(t, { routes: [get] })
  const tls = await certificate(t)
  const { port } = await app.server.listenTls({ host: '127.0.0.1', port: 0 }, tls)
  const reply = await getOverTls(port, tls.ca)
  assert.equal(reply.status, 200)
  assert.match(reply.id, /^req_/)
  const plain = new RawClient(port).write(request('GET /v1/things'))
  assert.equal(await plain.rest(), '', 'plain text on the TLS port ends the connection')
  await app.server.close()
  await assert.rejects(getOverTls(port, tls.ca))
})

test('two processes share one port, and each takes connections', async (t) => {
  const children: ChildProcess[] = []
  t.after(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  const start = async (port: number) => {
    const child = fork(new URL('testing/shared-port-process.ts', import.meta.url), [String(port)])
    children.push(child)
    return await new Promise<{ port: number; pid: number }>((resolve) =>
      child.once('message', (message) => resolve(message as { port: number; pid: number })),
    )
  }
  const first = await start(0)
  const second = await start(first.port)
  assert.equal(second.port, first.port)
  const seen = new Set<string>()
  for (let turn = 0; turn < 200 && seen.size < 2; turn += 1) {
    const client = new RawClient(first.port).write(request('GET /v1/things'))
    seen.add((await client.reply()).body)
    client.close()
  }
  assert.deepEqual([...seen].toSorted(), [first, second].map(({ pid }) => JSON.stringify({ pid })).toSorted())
})

test('a connection that is never used does not outlive the server', async (t) => {
  const app = await testServer(t, { routes: [get] })
  const socket = connect(app.port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  const ended = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  await app.server.close()
  await ended
})
