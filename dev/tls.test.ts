import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { TestContext } from 'node:test'
import { keepTls } from './tls.ts'
import type { TlsFiles } from './tls.ts'

const DAY_MS = 86_400_000

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

async function askOverTls(files: TlsFiles, host: string, port: number): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    const asked = request({ host, port, ca: readFileSync(files.ca) }, (reply) => {
      reply.resume()
      resolve(reply.statusCode)
    })
    asked.once('error', reject)
    asked.end()
  })
}

test('a client that trusts the CA reaches the server by address and by name, others are refused', async (t) => {
  const files = await keepTls(folderFor(t))
  const stranger = await keepTls(folderFor(t))
  const options = { cert: readFileSync(files.cert), key: readFileSync(files.key) }
  const server = createServer(options, (_request, reply) => reply.end('ok'))
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  assert.equal(await askOverTls(files, '127.0.0.1', port), 200)
  assert.equal(await askOverTls(files, 'localhost', port), 200)
  await assert.rejects(
    askOverTls(stranger, '127.0.0.1', port),
    /unable to verify|self-signed|certificate signature failure/,
  )
  assert.equal(new X509Certificate(readFileSync(files.cert)).checkIP('::1'), '::1')
})

test('private keys can be read by their owner only, and no draft is left', async (t) => {
  const folder = folderFor(t)
  await keepTls(folder)
  const modes = readdirSync(join(folder, 'tls')).map((name) => [name, statSync(join(folder, 'tls', name)).mode & 0o777])
  assert.deepEqual(Object.fromEntries(modes), {
    'ca-key.pem': 0o600,
    'ca.pem': 0o644,
    'server-key.pem': 0o600,
    'server.pem': 0o644,
  })
})

test('the server certificate is renewed in its last 30 days under the same CA, and the CA in its own', async (t) => {
  const folder = folderFor(t)
  const now = Date.now()
  const read = async (days: number) => {
    const files = await keepTls(folder, new Date(now + days * DAY_MS))
    return { ca: readFileSync(files.ca, 'utf8'), cert: readFileSync(files.cert, 'utf8') }
  }
  const first = await read(0)
  assert.deepEqual(await read(366), first)
  const renewed = await read(368)
  assert.equal(renewed.ca, first.ca)
  assert.notEqual(renewed.cert, first.cert)
  const anew = await read(1800)
  assert.notEqual(anew.ca, first.ca)
  assert.equal(new X509Certificate(anew.cert).verify(new X509Certificate(anew.ca).publicKey), true)
})
