import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createEngineApi } from '#platform/docker/engine-api.ts'
import { newId } from '#platform/std/ids.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { sharedDocker } from '../../../../../dev/engines/shared-docker.ts'
import { Boxes } from './boxes.ts'

test('after a start of the machine, containers that had data are lost, and those that had none are not', async (t) => {
  const docker = await sharedDocker()
  t.after(() => docker.stop())
  const dir = await mkdtemp(join(tmpdir(), 'switchyard-boxes-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const leave = async (containerId: string, note: { bootId: string; filled: boolean }) => {
    const root = join(dir, 'boxes', newId('box_'))
    await mkdir(root, { recursive: true })
    await writeFile(
      join(root, 'box.json'),
      JSON.stringify({ boxId: '', engineId: '', order: { containerId }, ...note }),
    )
    return root
  }
  const folders = [
    await leave('cntr_used', { bootId: 'an earlier one', filled: true }),
    await leave('cntr_begun', { bootId: 'an earlier one', filled: false }),
    await leave('cntr_over', { bootId: 'an earlier one', filled: true }),
  ]
  const never = async () => assert.fail('nothing is taken up')
  const boxes = new Boxes({
    engine: createEngineApi(docker.socket),
    log: createLog({ level: 'silent', pretty: false, name: 'test' }),
    hostId: newId('host_'),
    dir,
    image: 'none',
    runtime: 'runc',
    limits: { cpus: 1, processes: 16 },
    uid: 1_000,
    quota: false,
    poolSize: 0,
    poolMemoryBytes: 0,
    diskBytesMax: 0,
    fill: never,
    adopt: never,
    release: never,
  })
  const found = await boxes.recover(new Set(['cntr_used', 'cntr_begun', 'cntr_new']))
  assert.deepEqual(found, { kept: 0, removed: 3, lost: ['cntr_used'] })
  assert.ok(!folders.some((folder) => existsSync(folder)))
})
