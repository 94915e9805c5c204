import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSandboxWish, startSandbox } from './sandbox.ts'

test('hosted containers have the full image unless told otherwise', () => {
  assert.deepEqual([undefined, '', 'slim', 'full', 'none'].map(readSandboxWish), [
    'full',
    'full',
    'slim',
    'full',
    'none',
  ])
  assert.throws(() => readSandboxWish('big'), /slim, full, none/)
})

test('without Docker everything else starts, and one line says what is off, why and what to do', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-sandbox-off-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const socket = join(dataDir, 'nobody.sock')
  const off = await startSandbox({ dataDir, image: 'slim', given: { socket } })
  t.after(() => off.stop())
  assert.match(off.state, /^off: no Docker engine answers at \S+nobody\.sock; start it/)
  // Whoever starts it later gets a hosted shell without another start of dev.
  assert.equal(off.settings['SWITCHYARD_SANDBOX_DOCKER_SOCKET'], socket)
  const none = await startSandbox({ dataDir, image: 'none' })
  assert.match(none.state, /^off: SWITCHYARD_DEV_SANDBOX_IMAGE=none$/)
})
