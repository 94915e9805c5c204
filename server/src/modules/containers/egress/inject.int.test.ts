import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { egressBench, enter, enterTls, get, readAll, say } from './testing/egress-bench.ts'
import { egressTest } from './testing/egress-test.ts'
import { upstream } from './testing/upstream.ts'

const VALUE = 'sk-very-secret-0123456789'
const SECRET = { domain: 'api.example', name: 'API_KEY', value: VALUE }
const OTHER = { domain: 'other.example', name: 'OTHER_KEY', value: 'other-value-987' }

async function bench(t: TestContext, options: { answer?: RequestListener; plainHttpSecrets?: boolean } = {}) {
  const made = await egressBench(t)
  const { answer, plainHttpSecrets = false } = options
  const host = await upstream(t, {
    address: made.outside,
    ...made.certificates,
    ...(answer === undefined ? {} : { answer }),
  })
  const container = await made.container({
    domains: ['api.example', 'other.example', 'listed.example'],
    secrets: [SECRET, OTHER],
    plainHttpSecrets,
  })
  const tls = (servername = 'api.example') =>
    enterTls(container.socketPath, { servername, ca: [container.caPem ?? '', made.certificates.ca] })
  return { ...made, ...container, host, tls }
}

// S1-2.2-g S1-5.3-a
egressTest('a secret goes into the headers of its host and comes back as its placeholder', async (t) => {
  const b = await bench(t, {
    answer: (request, response) => {
      response.setHeader('x-echo', String(request.headers.authorization))
      response.end(`you sent ${String(request.headers.authorization)}, twice ${VALUE}${VALUE}`)
    },
  })
  assert.deepEqual(
    b.names,
    [SECRET, OTHER].map(({ name, domain }) => ({ name, domain })),
  )
  const reply = await say(
    await b.tls(),
    get('api.example', '/v1', ['Authorization: Bearer $API_KEY', 'X-Two: a$API_KEY-$API_KEY']),
  )
  assert.match(reply, /^HTTP\/1\.1 200/)
  assert.match(reply, /x-echo: Bearer \$API_KEY\r\n/i)
  assert.match(reply, /you sent Bearer \$API_KEY, twice \$API_KEY\$API_KEY/)
  assert.ok(!reply.includes(VALUE))
  const [seen] = b.host.seen
  assert.equal(seen?.headers.authorization, `Bearer ${VALUE}`)
  assert.equal(seen?.headers['x-two'], `a${VALUE}-${VALUE}`)
  assert.equal(seen?.headers['accept-encoding'], 'identity')
  assert.equal(seen?.host, 'api.example')
  const [receipt] = await b.receiptsOf(b.containerId)
  assert.deepEqual(
    [receipt?.host, receipt?.port, receipt?.verdict, receipt?.reason],
    ['api.example', 443, 'injected', null],
  )
  assert.ok((receipt?.bytesIn ?? 0) > 50 && (receipt?.bytesOut ?? 0) > 50)
  assert.ok(!JSON.stringify(await b.client.receipts(0)).includes(VALUE))
})

egressTest('a placeholder inside Basic credentials is replaced, and an echo of them is masked too', async (t) => {
  const b = await bench(t, { answer: (request, response) => response.end(`echo ${request.headers.authorization}.`) })
  const basic = Buffer.from('user:$API_KEY').toString('base64')
  const reply = await say(await b.tls(), get('api.example', '/', [`Authorization: Basic ${basic}`]))
  assert.ok(reply.includes(`echo Basic ${basic}.`), reply)
  const sent = b.host.seen[0]?.headers.authorization?.replace('Basic ', '') ?? ''
  assert.equal(Buffer.from(sent, 'base64').toString(), `user:${VALUE}`)
})

// S1-5.3-b
egressTest('the secret of another domain is refused with a reason, and nothing is sent', async (t) => {
  const b = await bench(t)
  const basic = Buffer.from('u:$OTHER_KEY').toString('base64')
  for (const header of ['X-Key: $OTHER_KEY', `Authorization: Basic ${basic}`]) {
    const reply = await say(await b.tls(), get('api.example', '/', [header]))
    assert.match(reply, /^HTTP\/1\.1 403/)
    assert.match(reply, /secret_of_other_host/)
  }
  assert.match(await say(await b.tls('other.example'), get('other.example', '/', ['X-Key: $API_KEY'])), /403/)
  assert.deepEqual(b.host.seen, [])
  const receipts = await b.receiptsOf(b.containerId, 3)
  assert.deepEqual(
    receipts.map(({ verdict, reason }) => `${verdict} ${reason}`),
    Array(3).fill('refused secret_of_other_host'),
  )
})

egressTest('a host without a secret sees the placeholder as text and never the value', async (t) => {
  const b = await bench(t)
  await say(await b.tls('listed.example'), get('listed.example', '/', ['Authorization: Bearer $API_KEY']))
  assert.equal(b.host.seen[0]?.headers.authorization, 'Bearer $API_KEY')
})

egressTest('placeholders in the address are refused; in a body they stay as they are', async (t) => {
  const bodies: string[] = []
  const b = await bench(t, {
    answer: (request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        bodies.push(body)
        response.end('ok')
      })
    },
  })
  for (const path of ['/?key=$API_KEY', '/%24API_KEY', '/$OTHER_KEY']) {
    assert.match(await say(await b.tls(), get('api.example', path)), /placeholder_not_in_header/)
  }
  assert.deepEqual(b.host.seen, [])
  const post = 'POST / HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n'
  await say(await b.tls(), `${post}Content-Length: 10\r\n\r\n[$API_KEY]`)
  await say(await b.tls(), `${post}Transfer-Encoding: chunked\r\n\r\n5\r\n[$API\r\n5\r\n_KEY]\r\n0\r\n\r\n`)
  assert.deepEqual(bodies, ['[$API_KEY]', '[$API_KEY]'])
})

egressTest('a value is masked across chunks, in a packed body and in a websocket', async (t) => {
  const b = await bench(t, {
    answer: (request, response) => {
      if (request.url === '/packed') {
        response.setHeader('content-encoding', 'gzip')
        return response.end(gzipSync(`packed ${VALUE}`))
      }
      response.write(`split ${VALUE.slice(0, 5)}`)
      setImmediate(() => response.end(`${VALUE.slice(5)} end`))
    },
  })
  const split = await say(await b.tls(), get('api.example', '/split'))
  assert.match(split.replaceAll(/\r\n[0-9a-f]+\r\n/g, ''), /split \$API_KEY end/)
  const packed = await say(await b.tls(), get('api.example', '/packed'))
  assert.match(packed, /packed \$API_KEY/)
  assert.doesNotMatch(packed, /content-encoding/i)

  b.host.https.on('upgrade', (request, socket) => {
    const key = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    const accept = key.digest('base64')
    socket.write(
      `HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    const text = Buffer.from(`got ${String(request.headers['x-key'])} ${request.headers['sec-websocket-extensions']}`)
    socket.end(Buffer.concat([Buffer.from([0x81, text.length]), text]))
  })
  const headers = [
    'Upgrade: websocket',
    'X-Key: $API_KEY',
    'Sec-WebSocket-Key: abc',
    'Sec-WebSocket-Extensions: permessage-deflate',
  ]
  const upgrade = get('api.example', '/ws', headers).replace('Connection: close', 'Connection: Upgrade')
  const frames = await say(await b.tls(), upgrade)
  assert.match(frames, /^HTTP\/1\.1 101/)
  assert.match(frames, /Sec-WebSocket-Accept: /)
  assert.ok(frames.endsWith(`got ${'*'.repeat(VALUE.length)} undefined`), frames)
})

egressTest('events pass as they come, and one connection serves many requests', async (t) => {
  let finish = () => {}
  const b = await bench(t, {
    answer: (request, response) => {
      if (request.url !== '/events') return response.end('short')
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: one\n\n')
      finish = () => response.end('data: two\n\n')
    },
  })
  const tls = await b.tls()
  const next = async () => String(((await once(tls, 'data')) as [Buffer])[0])
  for (const _ of [1, 2]) {
    tls.write('GET / HTTP/1.1\r\nHost: api.example\r\n\r\n')
    let text = ''
    while (!text.includes('short')) text += await next()
  }
  tls.write('GET /events HTTP/1.1\r\nHost: api.example\r\n\r\n')
  let text = ''
  while (!text.includes('data: one\n\n')) text += await next()
  finish()
  while (!text.includes('data: two\n\n')) text += await next()
  tls.destroy()
  assert.equal(b.host.seen.length, 3)
})

// S1-8.1
egressTest('over plain http a secret is refused, unless the organisation allows it', async (t) => {
  const b = await bench(t)
  const plain = get('api.example', '/', ['Authorization: $API_KEY'])
  assert.match(await say(await enter(b.socketPath, 80), plain), /403[^]*secret_not_over_http/)
  const absolute = plain.replace('GET /', 'GET http://api.example/')
  assert.match(await say(await enter(b.socketPath, 3128), absolute), /403[^]*secret_not_over_http/)
  assert.deepEqual(b.host.seen, [])
  assert.match(await say(await enter(b.socketPath, 80), get('api.example')), /hello api\.example/)
  const open = await bench(t, { plainHttpSecrets: true })
  await say(await enter(open.socketPath, 80), plain)
  assert.deepEqual(
    open.host.seen.map(({ secure, headers }) => [secure, headers.authorization]),
    [[false, VALUE]],
  )
})

egressTest('the certificate of a secret host is checked, and its fault is told', async (t) => {
  const b = await bench(t)
  b.dns.records.set('listed.example', [])
  const wrong = await b.container({
    domains: ['bad.example'],
    secrets: [{ domain: 'bad.example', name: 'K', value: 'v-1234' }],
  })
  b.dns.records.set('bad.example', [b.outside])
  const tls = await enterTls(wrong.socketPath, { servername: 'bad.example', ca: wrong.caPem ?? '' })
  assert.match(await say(tls, get('bad.example', '/', ['X: $K'])), /502[^]*tls_failed/)
  const [receipt] = await b.receiptsOf(wrong.containerId)
  assert.deepEqual([receipt?.verdict, receipt?.reason], ['failed', 'tls_failed'])
  assert.deepEqual(b.host.seen, [])
})

egressTest('a client that does not trust the authority of its container leaves a receipt that says so', async (t) => {
  const b = await bench(t)
  await assert.rejects(enterTls(b.socketPath, { servername: 'api.example', ca: b.certificates.ca }))
  const h2 = { servername: 'api.example', ca: b.caPem ?? '', ALPNProtocols: ['h2'] }
  await assert.rejects(enterTls(b.socketPath, h2))
  const receipts = await b.receiptsOf(b.containerId, 2)
  assert.deepEqual(
    receipts.map(({ reason }) => reason),
    ['client_tls_failed', 'client_tls_failed'],
  )
})

egressTest('large bodies pass both ways, and no value is ever in the log', async (t) => {
  const b = await bench(t, { answer: (request, response) => void request.pipe(response) })
  const tls = await b.tls()
  const size = 3_000_000
  tls.write(
    `POST / HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\nX: $API_KEY\r\nContent-Length: ${size}\r\n\r\n`,
  )
  const reading = readAll(tls)
  tls.write(Buffer.alloc(size, 0x61))
  const reply = await reading
  assert.ok(reply.length > size)
  assert.doesNotMatch(await readFile(join(b.folder, 'state', 'egress.log'), 'utf8'), /sk-very-secret/)
})
