import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Redis } from 'iovalkey'
import { canUnpackPackages } from './apt-packages.ts'
import { scratch } from './testing/scratch.ts'
import { findUnpackedValkey, unpackValkey } from './valkey-program.ts'
import { startValkey } from './valkey.ts'

const SYSTEM_APT = ['/var/lib/apt', '/var/lib/apt/lists', '/var/cache/apt', '/var/cache/apt/archives', '/var/lib/dpkg']

function systemAptState(): string[] {
  return SYSTEM_APT.filter(existsSync).map((folder) => {
    const entries = readdirSync(folder).map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`)
    return `${folder}\n${entries.join('\n')}`
  })
}

function client(url: string): Redis {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => {})
  return redis
}

test('it is unpacked from the distribution without changing the system, and runs from there', async (t) => {
  if (!canUnpackPackages()) return t.skip('needs apt')
  const { folder, own } = scratch(t)
  const before = systemAptState()
  const enginesDir = join(folder, 'engines')
  const unpacked = await unpackValkey(enginesDir)
  assert.deepEqual(systemAptState(), before)
  assert.ok(unpacked.path.startsWith(enginesDir))
  assert.deepEqual(findUnpackedValkey(enginesDir), unpacked)
  assert.deepEqual(
    readdirSync(enginesDir).filter((name) => name.includes('draft')),
    [],
  )
  const valkey = own(await startValkey({ dataDir: join(folder, 'data'), enginesDir }))
  assert.ok(Number.parseInt(valkey.version, 10) >= 7)
})

test('it asks for its password, forgets on restart and comes back after kill -9 on the same address', async (t) => {
  const { folder, own } = scratch(t)
  const valkey = own(await startValkey({ dataDir: folder }))
  const stranger = client(`redis://127.0.0.1:${valkey.port}`)
  t.after(() => stranger.disconnect())
  await assert.rejects(stranger.get('kept'), /NOAUTH/)
  assert.doesNotMatch(readFileSync(`/proc/${valkey.pid}/cmdline`, 'utf8'), new RegExp(new URL(valkey.url).password))

  const first = client(valkey.url)
  t.after(() => first.disconnect())
  assert.equal(await first.set('kept', '1'), 'OK')
  await valkey.kill9()
  await valkey.restart()
  const second = client(valkey.url)
  t.after(() => second.disconnect())
  assert.equal(await second.get('kept'), null)
})

test('content is kept over a restart when asked for', async (t) => {
  const { folder, own } = scratch(t)
  const valkey = own(await startValkey({ dataDir: folder, persist: true }))
  const first = client(valkey.url)
  t.after(() => first.disconnect())
  await first.set('kept', '1')
  await valkey.restart()
  const second = client(valkey.url)
  t.after(() => second.disconnect())
  assert.equal(await second.get('kept'), '1')
})
