import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createEngineApi, type EngineApi } from '#platform/docker/engine-api.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { startDocker, type DockerEngine } from '../../../../../dev/engines/docker.ts'
import { ensureImage } from '../../../../../sandbox/runtime/ensure-image.ts'
import type { BoxOrder } from '../domain/order.ts'
import { runtimes, type Runtime } from '../testing/sandbox-app.ts'
import { Boxes } from './boxes.ts'
import { removeBoxFolder } from './box-folder.ts'
import { Executor } from './execute.ts'
import type { ExecuteEvent } from './wire.ts'

const waitMs = 60_000
const awayMs = 5_000
const gib = 1024 ** 3
const commandUid = 1_000

const orderOf = (containerId: string): BoxOrder => ({
  containerId,
  projectId: 'proj_test',
  orgId: 'org_test',
  memoryBytes: gib,
  allowedDomains: null,
  secrets: [],
  skills: [],
  files: [],
})

/** What a host's process holds in memory. Another one over the same folder is what a restart makes. */
class HostProcess {
  readonly boxes: Boxes
  readonly executor: Executor
  readonly #ending = new AbortController()

  constructor(engine: EngineApi, dir: string, image: string, runtime: Runtime, poolSize: number) {
    this.boxes = new Boxes({
      engine,
      log: createLog({ level: 'silent', pretty: false, name: 'test' }),
      hostId: 'host_test',
      dir,
      image,
      runtime,
      limits: { cpus: 1, processes: 128 },
      uid: commandUid,
      quota: true,
      poolSize,
      poolMemoryBytes: gib,
      diskBytesMax: 64 * 1024 * 1024,
      fill: async () => undefined,
      adopt: async () => undefined,
      release: async () => undefined,
    })
    this.executor = new Executor(
      { engine, uid: commandUid, revive: (box, options) => this.boxes.revive(box, options) },
      (order) => this.boxes.claim(order),
    )
    engine
      .watch('switchyard.host=host_test', (event) => this.boxes.note(event), this.#ending.signal)
      .catch(() => undefined)
  }

  execute(containerId: string, callId: string, command: string): AsyncIterable<ExecuteEvent> {
    const call = { responseId: 'resp_test', callId, commands: [command], timeoutMs: waitMs }
    return this.executor.execute({ order: orderOf(containerId), ...call })
  }

  leave(): void {
    this.#ending.abort()
  }
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + waitMs; Date.now() < end;) {
    if (await holds()) return
    await delay(50)
  }
  assert.fail(`${what} did not come`)
}

/** Collects what a call says, to be looked at while it goes on. */
function listen(events: AsyncIterable<ExecuteEvent>) {
  const heard = { stdout: '', stderr: '', interrupted: false }
  const over = (async () => {
    for await (const event of events) {
      if (event.kind === 'output') heard.stdout += event.stdout ?? ''
      if (event.kind === 'output') heard.stderr += event.stderr ?? ''
      if (event.kind === 'result') heard.interrupted = event.result.interrupted
    }
  })()
  return { heard, over }
}

async function engineOf(
  t: TestContext,
): Promise<{ docker: DockerEngine; engine: EngineApi; image: string; dir: string }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-engine-'))
  const dir = await mkdtemp(join(tmpdir(), 'switchyard-boxes-'))
  const docker = await startDocker({ dataDir })
  t.after(async () => {
    await docker.stop()
    for (const name of await readdir(join(dir, 'boxes')).catch(() => []))
      await removeBoxFolder(join(dir, 'boxes', name))
    for (const folder of [dataDir, dir]) await rm(folder, { recursive: true, force: true })
  })
  return { docker, engine: createEngineApi(docker.socket), image: await ensureImage('slim', docker.socket), dir }
}

test('what outlives a host and its engine is taken up again', async (t) => {
  const { docker, engine, image, dir } = await engineOf(t)
  const machines = async () => (await engine.list('switchyard.host=host_test')).length
  for (const runtime of runtimes) {
    await t.test(
      `${runtime}: a command goes on while its host is started anew, and is heard from its beginning`,
      async () => {
        const [kept, gone, callId] = [`cntr_${randomUUID()}`, `cntr_${randomUUID()}`, randomUUID()]
        const before = new HostProcess(engine, dir, image, runtime, 1)
        await before.boxes.recover(new Set())
        before.boxes.fillPool()
        await listen(before.execute(gone, randomUUID(), 'echo orphan > file')).over
        const first = listen(
          before.execute(kept, callId, 'echo once >> log; echo one; until [ -e go ]; do sleep 0.1; done; cat log'),
        )
        await until('output', () => first.heard.stdout === 'one\n')
        await until('a full pool', () => before.boxes.waiting === 1)
        before.leave()
        // A process that is killed follows nothing any more.
        const left = assert.rejects(first.over, /gone/)
        ;(await before.boxes.claim(orderOf(kept))).gone = true
        await left

        const after = new HostProcess(engine, dir, image, runtime, 0)
        // The pool's box and the box of a container that nobody is owed any more.
        assert.deepEqual(await after.boxes.recover(new Set([kept])), { kept: 1, removed: 2, lost: [] })
        assert.equal(await machines(), 1)
        const second = listen(after.execute(kept, callId, 'echo never'))
        await until('output', () => second.heard.stdout === 'one\n')
        const box = await after.boxes.claim(orderOf(kept))
        await box.files.write('go', { uid: commandUid }, (async function* () {})())
        await second.over
        assert.deepEqual(second.heard, { stdout: 'one\nonce\n', stderr: '', interrupted: false })
        await after.boxes.destroy(kept)
        assert.equal(await machines(), 0)
        assert.deepEqual(await readdir(join(dir, 'boxes')), [])
        after.leave()
      },
    )

    await t.test(`${runtime}: while the engine is away commands go on, and new ones wait for it`, async () => {
      const [running, waiting] = [`cntr_${randomUUID()}`, `cntr_${randomUUID()}`]
      const host = new HostProcess(engine, dir, image, runtime, 0)
      await host.boxes.recover(new Set())
      for (const id of [running, waiting]) await listen(host.execute(id, randomUUID(), 'true')).over
      const long = listen(host.execute(running, randomUUID(), 'for at in 1 2 3 4 5 6 7 8; do echo $at; sleep 1; done'))
      await until('output', () => long.heard.stdout.startsWith('1\n'))
      await docker.kill9()
      const begun = Date.now()
      const late = listen(host.execute(waiting, randomUUID(), 'echo late'))
      await delay(awayMs)
      assert.equal(late.heard.stdout, '')
      await docker.restart()
      await Promise.all([long.over, late.over])
      assert.deepEqual(long.heard, { stdout: '1\n2\n3\n4\n5\n6\n7\n8\n', stderr: '', interrupted: false })
      assert.deepEqual(late.heard, { stdout: 'late\n', stderr: '', interrupted: false })
      assert.ok(Date.now() - begun >= awayMs)
      for (const id of [running, waiting]) await host.boxes.destroy(id)
      host.leave()
    })
  }
})
