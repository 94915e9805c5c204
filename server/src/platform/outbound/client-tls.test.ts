import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'
import { createOutbound } from './client.ts'
import { answering, httpReply, rawServer } from './testing/raw-server.ts'
import { HOOK_EXAMPLE } from './testing/certificate.ts'

const OUTSIDE = '127.0.0.2'
const OK = httpReply('200 OK', [], 'fine')

async function tlsServer(t: TestContext): Promise<{ port: number; names: string[] }> {
  const names: string[] = []
  const server = createServer({ ...HOOK_EXAMPLE, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    names.push(`${socket.servername ? socket.servername : '-'} ${socket.alpnProtocol}`)
    socket.on('error', () => socket.destroy())
    answering(OK)(socket)
  })
  server.on('tlsClientError', () => undefined)
  server.listen(0, OUTSIDE)
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, names }
}

function client(t: TestContext, ca?: string) {
  const outbound = createOutbound({
    portsAllowed: 'any',
    allowPrivate: (_host, address) => address === OUTSIDE,
    resolve: () => Promise.resolve([OUTSIDE]),
    ...(ca === undefined ? {} : { ca }),
  })
  t.after(() => outbound.close())
  return outbound
}

test('the certificate is checked against the name in the URL, though an address was dialled', async (t) => {
  const server = await tlsServer(t)
  const trusting = client(t, HOOK_EXAMPLE.cert)
  const reply = await trusting.request({ url: `https://hook.example:${server.port}/` })
  assert.equal(reply.body.toString(), 'fine')
  assert.deepEqual(server.names, ['hook.example http/1.1'])
  const refused = { name: 'OutboundRefused', reason: 'tls_failed' }
  await assert.rejects(trusting.request({ url: `https://other.example:${server.port}/` }), refused)
  await assert.rejects(trusting.request({ url: `https://${OUTSIDE}:${server.port}/` }), refused)
  await assert.rejects(client(t).request({ url: `https://hook.example:${server.port}/` }), refused)
})

test('proxy settings in the environment are not followed', async (t) => {
  const target = await rawServer(t, answering(OK), OUTSIDE)
  const proxy = await rawServer(t, answering(OK), '127.0.0.1')
  const program = `
    import { createOutbound } from ${JSON.stringify(new URL('client.ts', import.meta.url).href)}
    const outbound = createOutbound({
      httpAllowed: true, portsAllowed: 'any', allowPrivate: () => true, resolve: async () => ['${OUTSIDE}'],
    })
    const reply = await outbound.request({ url: 'http://hook.example:${target.port}/' })
    console.log(reply.status)
    await outbound.close()`
  const address = `http://127.0.0.1:${proxy.port}`
  const env = {
    HTTP_PROXY: address,
    http_proxy: address,
    HTTPS_PROXY: address,
    ALL_PROXY: address,
    NODE_USE_ENV_PROXY: '1',
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env })
  assert.equal(stdout.trim(), '200')
  assert.deepEqual([target.accepts(), proxy.accepts()], [1, 0])
})
