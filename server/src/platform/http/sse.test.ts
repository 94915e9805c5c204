import type { FastifyReply } from 'fastify'
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createLog } from '#platform/telemetry/log.ts'
import { Facts } from './facts.ts'
import { route } from './route.ts'
import { encodeEvent, EventStream, sendEvents, type EventTimes, type ServerEvent } from './sse.ts'
import { until } from './testing/poll.ts'
import { RawClient, request } from './testing/raw-client.ts'
import { key, testServer, thing } from './testing/test-server.ts'

async function* counting(to: number): AsyncGenerator<ServerEvent> {
  for (let n = 1; n <= to; n += 1) yield { event: 'count', data: { n } }
}

test('an event is a name, one line of JSON and a blank line', () => {
  assert.equal(
    encodeEvent({ event: 'response.created', data: { text: 'a\nb' } }),
    'event: response.created\ndata: {"text":"a\\nb"}\n\n',
  )
  assert.equal(encodeEvent({ data: null }), 'data: null\n\n')
})

test('a stream arrives whole, in order and under its own type', async (t) => {
  const app = await testServer(t, { routes: [route(thing({}), async () => new EventStream(counting(3)))] })
  const reply = await fetch(`${app.url}/v1/things`, { headers: key })
  assert.equal(reply.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal(reply.headers.get('cache-control'), 'no-cache')
  assert.match(reply.headers.get('x-request-id') ?? '', /^req_/)
  assert.match(reply.headers.get('openai-processing-ms') ?? '', /^\d+$/)
  assert.equal(await reply.text(), [1, 2, 3].map((n) => `event: count\ndata: {"n":${n}}\n\n`).join(''))
  await until('it to be logged', () => app.observed.length === 1)
  assert.deepEqual(app.observed, [{ operation: 'things.test', status: 200 }])
})

test('the headers are out before the first event is', async (t) => {
  const gate = Promise.withResolvers<void>()
  const events = (async function* (): AsyncGenerator<ServerEvent> {
    await gate.promise
    yield { data: 1 }
  })()
  const app = await testServer(t, { routes: [route(thing({}), async () => new EventStream(events))] })
  const reply = await fetch(`${app.url}/v1/things`, { headers: key })
  assert.equal(reply.status, 200)
  gate.resolve()
  assert.equal(await reply.text(), 'data: 1\n\n')
})

test('a source that fails midway cuts the connection, and the log says why', async (t) => {
  const events = (async function* (): AsyncGenerator<ServerEvent> {
    yield { data: 1 }
    throw new Error('the model is gone')
  })()
  const app = await testServer(t, { routes: [route(thing({}), async () => new EventStream(events))] })
  const reply = await fetch(`${app.url}/v1/things`, { headers: key })
  await assert.rejects(reply.text())
  const line = (await app.lines()).find(({ level }) => level === 'error')
  assert.match(JSON.stringify(line), /the model is gone/)
  assert.equal(line?.['requestId'], reply.headers.get('x-request-id'))
})

/** A source that waits for ever, and knows whether it was told to stop. */
function waiting(): { events: AsyncIterable<ServerEvent>; returned: () => boolean } {
  let returned = false
  const first: IteratorResult<ServerEvent> = { done: false, value: { data: 'first' } }
  let pulled = 0
  const iterator: AsyncIterator<ServerEvent> = {
    next: () => ((pulled += 1) === 1 ? Promise.resolve(first) : new Promise(() => undefined)),
    async return() {
      returned = true
      return { done: true, value: undefined }
    },
  }
  return { events: { [Symbol.asyncIterator]: () => iterator }, returned: () => returned }
}

test('a client that leaves stops the source, even while it waits', async (t) => {
  const source = waiting()
  const app = await testServer(t, { routes: [route(thing({}), async () => new EventStream(source.events))] })
  const client = new RawClient(app.port).write(request('GET /v1/things'))
  await until('the first event', () => client.received.includes('first'))
  assert.equal(source.returned(), false)
  client.close()
  await until('the source to be told', () => source.returned())
  assert.deepEqual(app.observed, [{ operation: 'things.test', status: 499 }])
  assert.deepEqual(
    (await app.lines()).filter(({ level }) => level === 'error'),
    [],
  )
})

/** The writer alone, on a server of its own, with times short enough to wait for. */
async function bare(
  t: TestContext,
  events: AsyncIterable<ServerEvent>,
  times: EventTimes,
): Promise<{ port: number; over: Promise<void>; reply: () => ServerResponse }> {
  const over = Promise.withResolvers<void>()
  let response: ServerResponse | null = null
  const log = createLog({ level: 'silent', pretty: false, name: 'test' })
  const server = createServer((incoming, raw) => {
    response = raw
    const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply
    sendEvents(reply, new EventStream(events), new Facts('req_1', incoming, raw), log, times).then(
      over.resolve,
      over.reject,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, over: over.promise, reply: () => response! }
}

test('a quiet stream is kept alive with comments', async (t) => {
  const { port } = await bare(t, waiting().events, { keepAliveMs: 20, stalledMs: 10_000 })
  const client = new RawClient(port).write(request('GET /'))
  await until('two comments', () => client.received.split(': keep-alive\n\n').length > 2)
  client.close()
})

test('a slow reader slows the source instead of filling memory, and one that has stopped is cut', async (t) => {
  let pulled = 0
  let returned = false
  const events = (async function* (): AsyncGenerator<ServerEvent> {
    try {
      for (;;) {
        pulled += 1
        yield { data: 'x'.repeat(64 * 1024) }
      }
    } finally {
      returned = true
    }
  })()
  const { port, over, reply } = await bare(t, events, { keepAliveMs: 5, stalledMs: 300 })
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  socket.write(request('GET /'))
  socket.pause()
  await until('the source to be stopped', () => pulled > 1 && reply().writableNeedDrain)
  await over
  // What the system's own buffers hold is read from the source; beyond them, no more than one event waits here.
  assert.ok(pulled < 200, `${pulled} events were pulled`)
  assert.ok(reply().writableLength <= 256 * 1024, `${reply().writableLength} bytes wait`)
  assert.ok(reply().destroyed)
  await until('the source to be told', () => returned)
  socket.destroy()
})
