import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runtimes } from '#modules/containers/testing/sandbox-app.ts'
import { createEngineApi } from '#platform/docker/engine-api.ts'
import { Fault } from '#platform/errors/fault.ts'
import { testApp } from '../../../../../test/test-app.ts'
import { becomesTrue } from '../../../../../../dev/engines/wait-until.ts'
import {
  half,
  halves,
  machineAtWork,
  never,
  numbers,
  pythonBench,
  slow,
  type PythonBench,
} from '../../testing/python-bench.ts'
import { PythonGraders } from '../python-graders.ts'

const waitMs = 60_000

/** Runs a command as the graders' user, beside whatever runs there. */
async function beside(bench: PythonBench, machine: string, text: string): Promise<number> {
  const options = { command: ['sh', '-c', text], user: '1000:1000', env: [], folder: '/' }
  return await createEngineApi(bench.app.socket).runExec(machine, options)
}

/** A row is being graded: the harness and its child. */
const harnessBegun = '[ $(cat /proc/[0-9]*/comm | grep -cx python3) -ge 2 ]'
const killHarness = `for p in /proc/[0-9]*; do
  grep -qx python3 $p/comm && grep -qx supervise /proc/$(cut -d' ' -f4 $p/stat)/comm && kill -9 $(basename $p)
done; true`

for (const runtime of runtimes) {
  test(`when the machinery under a grader breaks on ${runtime}`, async (group) => {
    await group.test('a row that ends the harness has itself to blame, and costs nobody else', async (t) => {
      const bench = await pythonBench(t, runtime, { rowMs: 30_000 })
      const rows = bench.grade(slow, [{ s: 0 }, { s: 29 }, { s: 0 }, { s: 0.5 }])
      const machine = await machineAtWork(bench)
      assert.ok(await becomesTrue(async () => (await beside(bench, machine, harnessBegun)) === 0, waitMs))
      await beside(bench, machine, killHarness)
      assert.deepEqual(await rows, [0, 'it ended the process that grades, or its container.', 0, 0.5])
    })

    await group.test('a container that is gone in the middle costs no row', async (t) => {
      const bench = await pythonBench(t, runtime)
      const rows = bench.grade(slow, [{ s: 1 }, { s: 0.5 }, { s: 0 }])
      await machineAtWork(bench)
      await bench.app.wired.containers.jobs.close(bench.watched.opened[0] ?? '')
      assert.deepEqual(await rows, [1, 0.5, 0])
      assert.equal(bench.watched.opened.length, 2)
    })

    await group.test('a machine that dies under a row costs no row, unless it dies of that row', async (t) => {
      const bench = await pythonBench(t, runtime)
      const rows = bench.grade(slow, [{ s: 0 }, { s: 2 }, { s: 0.5 }])
      const machine = await machineAtWork(bench)
      assert.ok(await becomesTrue(async () => (await beside(bench, machine, harnessBegun)) === 0, waitMs))
      await createEngineApi(bench.app.socket).remove(machine)
      assert.deepEqual(await rows, [0, 2, 0.5])
    })

    await group.test('a batch that takes long is cut, and the rest is the next one', async (t) => {
      const bench = await pythonBench(t, runtime, { batchMs: 500 })
      assert.deepEqual(
        await bench.grade(
          slow,
          numbers(4).map(() => ({ s: 0.4 })),
        ),
        Array(4).fill(0.4),
      )
      assert.ok(bench.watched.ran.length >= 2)
      assert.equal(bench.watched.opened.length, 1)
    })

    await group.test('containers are bounded, and go when they are idle or the process ends', async (t) => {
      const bench = await pythonBench(t, runtime, { containersMax: 2, batchesAtOnce: 2, idleMs: 1_500 })
      const runs = ['evalrun_1', 'evalrun_2', 'evalrun_3', 'evalrun_4']
      const scores = await Promise.all(runs.map((runId) => bench.grade(half, numbers(2), { runId })))
      assert.deepEqual(scores, Array(4).fill(halves(2)))
      assert.equal(bench.watched.opened.length, 4)
      assert.ok((await bench.listMachines()).length <= 2)
      assert.ok(await becomesTrue(async () => (await bench.listMachines()).length === 0, waitMs))
      const late = assert.rejects(bench.score(slow, { s: 60 }), { name: 'AbortError' })
      await machineAtWork(bench)
      await bench.graders.part.stop?.()
      await late
      assert.deepEqual(await bench.listMachines(), [])
      await assert.rejects(bench.score(half, { n: 1 }), (error) => error instanceof Fault)
    })
  })
}

test('without a host a row is not the grader’s fault, and is told as it is after a few tries', async (t) => {
  const app = await testApp(t)
  const { log, containers } = app.wired
  const graders = new PythonGraders({ jobs: containers.jobs, log })
  const asked = { projectId: app.project.id, runId: 'evalrun_x', source: half, item: { n: 1 }, sample: {} }
  await assert.rejects(
    graders.score(asked, never),
    (error) => error instanceof Fault && error.code === 'server_overloaded',
  )
})
