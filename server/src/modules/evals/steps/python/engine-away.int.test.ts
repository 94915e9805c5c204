import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startDocker } from '../../../../../../dev/engines/docker.ts'
import { half, halves, numbers, pythonBench } from '../../testing/python-bench.ts'

/** Longer than a command that cannot be begun is tried and listened for. */
const idleMs = 120_000

test('while the engine is away rows are turned away, in new containers and in old ones', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-engine-'))
  const docker = await startDocker({ dataDir })
  const bench = await pythonBench(t, 'runc', { triesMax: 1, idleMs }, { SWITCHYARD_SANDBOX_POOL: '0' }, docker)
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const grade = async (runId: string) => await bench.grade(half, numbers(2), { runId })
  assert.deepEqual(await grade('evalrun_old'), halves(2))
  await docker.kill9()
  const away = await Promise.allSettled(
    ['evalrun_old', 'evalrun_new'].map((runId) => bench.score(half, { n: 1 }, { runId })),
  )
  await docker.restart()
  assert.deepEqual(
    away.map((one) => one.status === 'rejected' && (one.reason as { code?: unknown }).code),
    ['server_overloaded', 'server_overloaded'],
  )
  assert.deepEqual(await Promise.all([grade('evalrun_old'), grade('evalrun_new')]), [halves(2), halves(2)])
})
