import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { ErrorBody } from '@switchyard/contracts/errors.ts'
import { BinaryReply } from './binary-reply.ts'
import { route } from './route.ts'
import { until } from './testing/poll.ts'
import { RawClient, request } from './testing/raw-client.ts'
import { key, testServer, thing } from './testing/test-server.ts'

const download = thing({ reply: 'binary' })

test('a download is streamed as it is, with its own headers', async (t) => {
  const app = await testServer(t, {
    routes: [
      route(
        download,
        async () =>
          new BinaryReply({
            status: 206,
            headers: { 'content-range': 'bytes 0-4/9', 'content-length': '5' },
            stream: Readable.from([Buffer.from('hello')]),
          }),
      ),
    ],
  })
  const reply = await fetch(`${app.url}/v1/things`, { headers: key })
  assert.deepEqual(
    [reply.status, reply.headers.get('content-range'), await reply.text()],
    [206, 'bytes 0-4/9', 'hello'],
  )
  assert.match(reply.headers.get('x-request-id') ?? '', /^req_[0-9a-f]{32}$/)
})

test('a download that fails before its first byte is a clean fault', async (t) => {
  const stream = () =>
    new Readable({
      read() {
        this.destroy(new Error('blob missing'))
      },
    })
  const headers = { 'content-length': '5', 'content-disposition': 'attachment', 'content-range': 'bytes 0-4/9' }
  const app = await testServer(t, {
    routes: [route(download, async () => new BinaryReply({ headers, stream: stream() }))],
  })
  const reply = await fetch(`${app.url}/v1/things`, { headers: key })
  const { error } = (await reply.json()) as ErrorBody
  const { status, headers: got } = reply
  assert.deepEqual([status, error.code], [500, 'internal_error'])
  assert.deepEqual([got.get('content-disposition'), got.get('content-range')], [null, null])
})

test('a download that fails midway is cut short, and the log says why', async (t) => {
  const stream = () =>
    Readable.from(
      (async function* () {
        yield Buffer.from('hel')
        await new Promise((resolve) => setImmediate(resolve))
        throw new Error('the disk is gone')
      })(),
    )
  const app = await testServer(t, {
    routes: [route(download, async () => new BinaryReply({ headers: { 'content-length': '5' }, stream: stream() }))],
  })
  const client = new RawClient(app.port).write(request('GET /v1/things'))
  assert.match(await client.rest(), /^HTTP\/1\.1 200 .*hel$/s)
  const line = (await app.lines()).find(({ level }) => level === 'error')
  assert.match(JSON.stringify(line), /the disk is gone.*a download ended early/)
})

test('a client that leaves a download stops its source', async (t) => {
  let destroyed = false
  const stream = new Readable({
    read() {
      this.push(Buffer.alloc(64 * 1024))
    },
    destroy(error, done) {
      destroyed = true
      done(error)
    },
  })
  const app = await testServer(t, { routes: [route(download, async () => new BinaryReply({ headers: {}, stream }))] })
  const abort = new AbortController()
  const reply = await fetch(`${app.url}/v1/things`, { headers: key, signal: abort.signal })
  assert.equal(reply.status, 200)
  abort.abort()
  await until('the source to end', () => destroyed)
  assert.deepEqual(app.observed, [{ operation: 'things.test', status: 499 }])
})
