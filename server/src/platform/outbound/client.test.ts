import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createOutbound, type OutboundOptions, type OutboundRequest } from './client.ts'
import { OutboundRefused, type RefusalReason } from './refused.ts'
import { answering, httpReply, rawServer } from './testing/raw-server.ts'

/** Stands for a public address in tests that must stay on this machine. */
const OUTSIDE = '127.0.0.2'
const INSIDE = '127.0.0.1'
const OK = httpReply('200 OK', [], 'fine')

function client(t: TestContext, options: OutboundOptions = {}) {
  const outbound = createOutbound({
    httpAllowed: true,
    portsAllowed: 'any',
    allowPrivate: (_host, address) => address === OUTSIDE,
    resolve: () => Promise.resolve([OUTSIDE]),
    connectTimeoutMs: 900,
    totalTimeoutMs: 5_000,
    ...options,
  })
  t.after(() => outbound.close())
  return outbound
}

async function refusal(
  outbound: ReturnType<typeof createOutbound>,
  request: OutboundRequest,
): Promise<OutboundRefused> {
  try {
    await outbound.request(request)
  } catch (error) {
    assert.ok(error instanceof OutboundRefused, String(error))
    return error
  }
  assert.fail('the request was not refused')
}

async function refusedAs(t: TestContext, reason: RefusalReason, request: OutboundRequest, options?: OutboundOptions) {
  assert.equal((await refusal(client(t, options), request)).reason, reason)
}

test('every address of the private table is refused and nothing reaches this machine', async (t) => {
  const four = await rawServer(t, answering(OK), INSIDE)
  const six = await rawServer(t, answering(OK), '::1', four.port)
  const outbound = client(t, { allowPrivate: () => false, resolve: () => Promise.resolve([INSIDE]) })
  const hosts =
    '127.0.0.1 127.1 0x7f.1 2130706433 0177.0.0.1 [::1] [::ffff:7f00:1] [::ffff:127.0.0.1] [::127.0.0.1] ' +
    '[64:ff9b::7f00:1] [2002:7f00:1::] 169.254.169.254 0.0.0.0 [::] localhost localhost. api.localhost ' +
    'leads-inside.example ①②⑦.0.0.1 10.0.0.1 [fd00::1] [fe80::1]'
  for (const host of hosts.split(' ')) {
    for (const scheme of ['http', 'https']) {
      const error = await refusal(outbound, { url: `${scheme}://${host}:${four.port}/`, redirects: 3 })
      assert.equal(error.reason, 'address_not_allowed', host)
    }
  }
  assert.equal(four.accepts() + six.accepts(), 0)
})

test('other schemes, ports and user names are refused before anything is sent', async (t) => {
  const server = await rawServer(t, answering(OK), OUTSIDE)
  const listed = client(t, { portsAllowed: [80, 443] })
  const cases: [string, RefusalReason][] = [
    ['http://hook.example:22/', 'port_not_allowed'],
    [`http://hook.example:${server.port}/`, 'port_not_allowed'],
    ['http://user@hook.example/', 'userinfo_not_allowed'],
    ['file:///etc/passwd', 'scheme_not_allowed'],
    ['data:text/plain,hello', 'scheme_not_allowed'],
  ]
  for (const [url, reason] of cases) assert.equal((await refusal(listed, { url })).reason, reason, url)
  assert.equal(server.accepts(), 0)
})

test('a name with one private address among public ones is refused', async (t) => {
  const outside = await rawServer(t, answering(OK), OUTSIDE)
  const inside = await rawServer(t, answering(OK), INSIDE, outside.port)
  const options = { resolve: () => Promise.resolve([OUTSIDE, INSIDE]) }
  await refusedAs(t, 'address_not_allowed', { url: `http://both.example:${outside.port}/` }, options)
  assert.equal(outside.accepts() + inside.accepts(), 0)
})

test('a name that turns private after its check reaches nothing private', async (t) => {
  const outside = await rawServer(t, answering(httpReply('200 OK', ['connection: close'], 'fine')), OUTSIDE)
  const inside = await rawServer(t, answering(OK), INSIDE, outside.port)
  let asked = 0
  const resolve = () => Promise.resolve([asked++ === 0 ? OUTSIDE : INSIDE])
  const outbound = client(t, { resolve, nameTtlMs: 0 })
  const url = `http://rebinding.example:${outside.port}/`
  assert.equal((await outbound.request({ url })).status, 200)
  assert.equal(asked, 1, 'one connection asks once, so there is no second answer to fall for')
  assert.equal((await refusal(outbound, { url })).reason, 'address_not_allowed')
  assert.deepEqual([outside.accepts(), inside.accepts(), asked], [1, 0, 2])
})

test('a kept connection stays at its checked address while the name turns private', async (t) => {
  const outside = await rawServer(t, answering(OK), OUTSIDE)
  const inside = await rawServer(t, answering(OK), INSIDE, outside.port)
  let asked = 0
  const resolve = () => Promise.resolve([asked++ === 0 ? OUTSIDE : INSIDE])
  const outbound = client(t, { resolve, nameTtlMs: 0, connectionsPerOriginMax: 1 })
  const url = `http://rebinding.example:${outside.port}/`
  for (let n = 0; n < 5; n += 1) assert.equal((await outbound.request({ url, method: 'POST', body: 'x' })).status, 200)
  assert.deepEqual([outside.accepts(), inside.accepts(), asked], [1, 0, 1])
})

test('a redirect to a private address or name is refused and not followed', async (t) => {
  const inside = await rawServer(t, answering(OK), INSIDE)
  const resolve = (host: string) => Promise.resolve([host === 'inside.example' ? INSIDE : OUTSIDE])
  for (const host of [INSIDE, 'inside.example', 'localhost', '[::ffff:127.0.0.1]']) {
    const location = `location: http://${host}:${inside.port}/`
    const outside = await rawServer(t, answering(httpReply('302 Found', [location])), OUTSIDE)
    const error = await refusal(client(t, { resolve }), { url: `http://hook.example:${outside.port}/`, redirects: 3 })
    assert.equal(error.reason, 'redirect_refused')
    assert.equal((error.cause as OutboundRefused).reason, 'address_not_allowed')
  }
  assert.equal(inside.accepts(), 0)
})

test('redirects are followed as often as asked, and without asking a 3xx is just a reply', async (t) => {
  const server = await rawServer(t, hops(2), OUTSIDE)
  const outbound = client(t)
  const url = `http://hook.example:${server.port}/0`
  const plain = await outbound.request({ url })
  assert.deepEqual([plain.status, plain.headers.location], [302, '/1'])
  assert.equal((await refusal(outbound, { url, redirects: 1 })).reason, 'too_many_redirects')
  const followed = await outbound.request({ url, redirects: 2 })
  assert.deepEqual(
    [followed.status, followed.url, followed.timing.hops],
    [200, `http://hook.example:${server.port}/2`, 3],
  )
})

test('a server that never answers is given up in time, and its place is free again', async (t) => {
  const server = await rawServer(t, () => undefined, OUTSIDE)
  const outbound = client(t, { totalTimeoutMs: 150, inFlightMax: 1 })
  const url = `http://hook.example:${server.port}/`
  for (let n = 0; n < 2; n += 1) {
    const startedAt = performance.now()
    assert.equal((await refusal(outbound, { url })).reason, 'timed_out')
    assert.ok(performance.now() - startedAt < 1_500)
  }
})

test('a body that drips is cut off by the total time', async (t) => {
  const drip = (socket: Socket): void => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
    const timer = setInterval(() => socket.write('x'), 20)
    socket.on('close', () => clearInterval(timer))
  }
  const server = await rawServer(t, drip, OUTSIDE)
  await refusedAs(t, 'timed_out', { url: `http://hook.example:${server.port}/`, timeoutMs: 200 })
})

test('headers that drip are cut off by the total time', async (t) => {
  const drip = (socket: Socket): void => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('x-drip: 1\r\n'), 20)
    socket.on('close', () => clearInterval(timer))
  }
  const server = await rawServer(t, drip, OUTSIDE)
  await refusedAs(t, 'timed_out', { url: `http://hook.example:${server.port}/`, timeoutMs: 200 })
})

test('an endless body is refused or cut at the byte asked for, and never read to its end', async (t) => {
  const block = `ffff\r\n${'x'.repeat(0xffff)}\r\n`
  let written = 0
  const flood = (socket: Socket): void => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const more = (): void => {
      while (!socket.destroyed && written < 1e9 && socket.write(block)) written += block.length
    }
    socket.on('drain', more)
    more()
  }
  const server = await rawServer(t, flood, OUTSIDE)
  const url = `http://hook.example:${server.port}/`
  await refusedAs(t, 'too_large', { url, bytesMax: 100_000 })
  const cut = await client(t).request({ url, bytesMax: 100_000, overflow: 'truncate' })
  assert.deepEqual([cut.status, cut.body.length, cut.truncated], [200, 100_000, true])
  assert.ok(written < 50_000_000, `${written} bytes were read`)
})

test('a body announced as too large is refused before it is read', async (t) => {
  const server = await rawServer(t, answering('HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n'), OUTSIDE)
  const url = `http://hook.example:${server.port}/`
  await refusedAs(t, 'too_large', { url, bytesMax: 1_000 })
})

test('a body of exactly the allowed size is whole', async (t) => {
  const server = await rawServer(t, answering(httpReply('200 OK', [], 'x'.repeat(1_000))), OUTSIDE)
  const url = `http://hook.example:${server.port}/`
  for (const overflow of ['truncate', 'refuse'] as const) {
    const reply = await client(t).request({ url, bytesMax: 1_000, overflow })
    assert.deepEqual([reply.body.length, reply.truncated], [1_000, false])
  }
})

test('a flood of headers or of informational replies is refused', async (t) => {
  const headers = Array.from({ length: 5_000 }, (_, n) => `x-flood-${n}: ${'v'.repeat(20)}`)
  const server = await rawServer(t, answering(httpReply('200 OK', headers)), OUTSIDE)
  await refusedAs(t, 'too_large', { url: `http://hook.example:${server.port}/` })
  const hints = await rawServer(t, answering('HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n'.repeat(1_000)), OUTSIDE)
  await refusedAs(t, 'too_large', { url: `http://hook.example:${hints.port}/` })
})

test('each way a connection can fail has its own reason', async (t) => {
  const plain = await rawServer(t, answering('this is not TLS'), OUTSIDE)
  const garbage = await rawServer(t, answering('SSH-2.0-OpenSSH_9.2\r\n'), OUTSIDE)
  const cut = await rawServer(t, (socket) => socket.on('data', () => socket.destroy()), OUTSIDE)
  const short = await rawServer(t, (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nxx'), OUTSIDE)
  await refusedAs(t, 'tls_failed', { url: `https://hook.example:${plain.port}/` })
  await refusedAs(t, 'bad_reply', { url: `http://hook.example:${garbage.port}/` })
  await refusedAs(t, 'reset', { url: `http://hook.example:${cut.port}/` })
  await refusedAs(t, 'reset', { url: `http://hook.example:${short.port}/` })
  await refusedAs(t, 'connect_failed', { url: 'http://hook.example:1/' })
  await refusedAs(t, 'name_not_resolved', { url: 'http://no.example/' }, { resolve: () => Promise.resolve([]) })
  const failing = { resolve: () => Promise.reject(new Error('SERVFAIL')) }
  await refusedAs(t, 'name_not_resolved', { url: 'http://no.example/' }, failing)
  const hanging = { resolve: () => new Promise<string[]>(() => undefined), connectTimeoutMs: 100 }
  await refusedAs(t, 'timed_out', { url: 'http://slow.example/' }, hanging)
})

test('a caller can stop its own request', async (t) => {
  const server = await rawServer(t, () => undefined, OUTSIDE)
  const stop = new AbortController()
  const pending = client(t).request({ url: `http://hook.example:${server.port}/`, signal: stop.signal })
  stop.abort(new Error('changed my mind'))
  await assert.rejects(pending, /changed my mind/)
})

test('one slow target cannot take the places of all others', async (t) => {
  const slow = await rawServer(t, () => undefined, OUTSIDE)
  const quick = await rawServer(t, answering(OK), OUTSIDE)
  const outbound = client(t, { inFlightPerOriginMax: 3, totalTimeoutMs: 300 })
  const url = `http://slow.example:${slow.port}/`
  const waiting = [1, 2, 3].map(() => refusal(outbound, { url }))
  assert.equal((await refusal(outbound, { url })).reason, 'busy')
  assert.equal((await outbound.request({ url: `http://quick.example:${quick.port}/` })).status, 200)
  for (const each of waiting) assert.equal((await each).reason, 'timed_out')
})

test('past the limit of kept connections each is closed after its reply', async (t) => {
  const server = await rawServer(t, answering(OK), OUTSIDE)
  const outbound = client(t, { keptConnectionsMax: 0 })
  for (let n = 0; n < 3; n += 1) await outbound.request({ url: `http://hook.example:${server.port}/` })
  assert.equal(server.accepts(), 3)
})

test('what goes out is what was asked for: no cookies kept, no compression invited, nothing decoded', async (t) => {
  const seen: string[] = []
  const reply = httpReply('200 OK', ['set-cookie: a=b', 'content-encoding: gzip'], 'not really gzip')
  const server = await rawServer(
    t,
    (socket) =>
      socket.on('data', (data) => {
        seen.push(data.toString('latin1'))
        socket.write(reply)
      }),
    OUTSIDE,
  )
  const outbound = client(t)
  const url = `http://hook.example:${server.port}/in?a=1`
  for (let n = 0; n < 2; n += 1) {
    const got = await outbound.request({ url, method: 'POST', headers: { 'x-mine': '1' }, body: 'hello' })
    assert.equal(got.body.toString(), 'not really gzip')
  }
  const expected = [
    'POST /in?a=1 HTTP/1.1',
    `host: hook.example:${server.port}`,
    'connection: keep-alive',
    'accept-encoding: identity',
    'x-mine: 1',
    'content-length: 5',
    '',
    'hello',
  ].join('\r\n')
  assert.deepEqual(seen, [expected, expected])
})

test('close ends idle connections and later requests', async (t) => {
  const server = await rawServer(t, answering(OK), OUTSIDE)
  const outbound = client(t)
  const url = `http://hook.example:${server.port}/`
  await outbound.request({ url })
  await outbound.close()
  await assert.rejects(outbound.request({ url }))
  assert.equal(server.accepts(), 1)
})

/** Redirects /0 to /1 and so on, and answers 200 from `last` on. */
function hops(last: number): (socket: Socket) => void {
  return (socket) =>
    socket.on('data', (data) => {
      const at = Number(/^GET \/(\d+)/.exec(data.toString('latin1'))?.[1])
      socket.write(at >= last ? OK : httpReply('302 Found', [`location: /${at + 1}`]))
    })
}
