import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createAuthority } from './authority.ts'
import { commandEnv, trustFiles } from './trust.ts'

// S1-2.2-g S1-5.3-c
test('a command sees secrets as placeholders, and only under names that a shell can have', () => {
  const names = ['API_KEY', '_x9', 'with-dash', '9nine', '', 'PATH', 'LD_PRELOAD', 'SSL_CERT_FILE']
  const env = commandEnv(
    names.map((name) => ({ name, domain: 'api.example' })),
    true,
  )
  assert.equal(env['API_KEY'], '$API_KEY')
  assert.equal(env['_x9'], '$_x9')
  for (const name of ['with-dash', '9nine', '', 'PATH', 'LD_PRELOAD']) assert.equal(env[name], undefined, name)
  assert.equal(env['SSL_CERT_FILE'], '/run/egress/ca.pem')
  assert.deepEqual(commandEnv([], false), { NO_PROXY: 'localhost,127.0.0.1', no_proxy: 'localhost,127.0.0.1' })
})

test('the bundle holds the public roots and the authority of the container', async () => {
  const { caPem } = await createAuthority('cntr_1')
  const files = trustFiles(caPem)
  const bundle = String(files['ca.pem'])
  assert.ok(bundle.endsWith(caPem))
  assert.ok((bundle.match(/BEGIN CERTIFICATE/g) ?? []).length > 100)
  assert.equal(files['own-ca.pem'], caPem)
  assert.ok(new X509Certificate(caPem).ca)
})

const keytool = spawnSync('keytool', ['-help']).error === undefined

test('Java reads the trust store', { skip: keytool ? false : 'keytool is not installed' }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-trust-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { caPem } = await createAuthority('cntr_java')
  const store = join(folder, 'truststore.jks')
  writeFileSync(store, trustFiles(caPem)['truststore.jks'])
  const listed = execFileSync('keytool', ['-list', '-keystore', store, '-storepass', 'changeit'], { encoding: 'utf8' })
  assert.ok(listed.includes(new X509Certificate(caPem).fingerprint256))
})
