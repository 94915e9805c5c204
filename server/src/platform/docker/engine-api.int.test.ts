import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedDocker } from '../../../../dev/engines/shared-docker.ts'
import { createEngineApi, EngineAway } from './engine-api.ts'

const boundMs = 10_000

test('whoever watches the engine is free as soon as it says so', async (t) => {
  const docker = await sharedDocker()
  t.after(() => docker.stop())
  const ending = new AbortController()
  const watching = createEngineApi(docker.socket).watch('switchyard.nobody=1', () => undefined, ending.signal)
  // A whole request later the stream of events is open, and nothing has come.
  await createEngineApi(docker.socket).info()
  ending.abort()
  await Promise.race([
    watching,
    new Promise((_resolve, reject) => setTimeout(() => reject(new Error('still watching')), boundMs).unref()),
  ])
})

test('an engine that does not answer is told from a container that is gone', async () => {
  await assert.rejects(createEngineApi('/nowhere/docker.sock').info(), EngineAway)
})
