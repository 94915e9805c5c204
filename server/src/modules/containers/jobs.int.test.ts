import {
  createContainer,
  deleteContainer,
  listContainerFiles,
  listContainers,
  listEgressReceipts,
  retrieveContainer,
} from '@switchyard/contracts/containers.ts'
import { createResponse } from '@switchyard/contracts/responses/operations.ts'
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ContainerLost } from './domain/lost.ts'
import type { ContainerJobs, JobResult } from './jobs.ts'
import { sweepContainers } from './steps/sweep-containers.ts'
import type { ContainersTables } from './store/tables.ts'
import { makeDue } from './testing/containers-kit.ts'
import { runtimes, sandboxApp, type SandboxApp } from './testing/sandbox-app.ts'

const settings = {
  SWITCHYARD_SANDBOX_DISK_MB_MAX: '64',
  SWITCHYARD_SANDBOX_POOL: '0',
  SWITCHYARD_CONTAINERS_ACTIVE_MAX: '1',
}
const waitMs = 30_000
const never = new AbortController().signal

const open = (app: SandboxApp) => app.wired.containers.jobs.open({ projectId: app.project.id, name: 'job' })

const sh = (jobs: ContainerJobs, id: string, text: string, signal = never): Promise<JobResult> =>
  jobs.run(id, { text, timeoutMs: 60_000 }, signal)

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + waitMs; Date.now() < end;) {
    if (await holds()) return
    await delay(50)
  }
  assert.fail(`${what} did not come`)
}

const boxes = async (app: SandboxApp) => (await readdir(join(app.dir, 'boxes'))).length

for (const runtime of runtimes) {
  test(`private containers on ${runtime}`, async (group) => {
    const app = await sandboxApp(group, { runtime, settings })
    const { jobs } = app.wired.containers

    await group.test('a job has a folder, no network, a time limit, and hears what it prints', async () => {
      const id = await open(app)
      await jobs.put(id, 'in.txt', Buffer.from('first'), never)
      await jobs.put(id, 'in.txt', Buffer.from('second'), never)
      const heard: string[] = []
      const text = 'cat in.txt; cat /sys/class/net/*/operstate 2>/dev/null | grep -c up; echo no >&2; exit 3'
      const told = await jobs.run(id, { text, timeoutMs: 60_000, onStdout: (more) => heard.push(more) }, never)
      assert.deepEqual(told, {
        stdout: 'second0\n',
        stderr: 'no\n',
        outcome: { type: 'exit', exit_code: 3 },
        complete: true,
      })
      assert.equal(heard.join(''), 'second0\n')
      const late = await jobs.run(id, { text: 'echo begun; sleep 60', timeoutMs: 500 }, never)
      assert.deepEqual([late.stdout, late.outcome], ['begun\n', { type: 'timeout' }])
      await jobs.close(id)
    })

    await group.test('a project neither sees a private container nor has it counted', async () => {
      const id = await open(app)
      await sh(jobs, id, 'echo kept > a.txt')
      const params = { container_id: id }
      for (const operation of [retrieveContainer, deleteContainer, listContainerFiles, listEgressReceipts]) {
        const reply = await app.call(operation, { params })
        assert.deepEqual([reply.status, reply.error.code], [404, 'container_not_found'], operation.id)
      }
      assert.deepEqual((await app.call(listContainers, {})).body.data, [])
      assert.equal((await app.call(listContainers, { query: { after: id } })).status, 400)
      const shell = { type: 'shell', environment: { type: 'container_reference', container_id: id } }
      const reply = await app.call(createResponse, { body: { model: 'double-chat', tools: [shell], input: 'go' } })
      assert.deepEqual([reply.status, reply.error.code], [404, 'container_not_found'])
      const counted = await app.call(createContainer, { body: { name: 'the one that is allowed' } })
      assert.equal(counted.status, 200, counted.text)
      await app.call(deleteContainer, { params: { container_id: counted.body.id } })
      assert.equal((await sh(jobs, id, 'cat a.txt')).stdout, 'kept\n')
      await jobs.close(id)
    })

    await group.test('closing takes it away at once, also from under a command', async () => {
      const id = await open(app)
      let begun = false
      const running = jobs.run(
        id,
        { text: 'echo begun; sleep 300', timeoutMs: 400_000, onStdout: () => (begun = true) },
        never,
      )
      const lost = assert.rejects(running, ContainerLost)
      await until('output', async () => begun)
      await jobs.close(id)
      await jobs.close(id)
      assert.equal(await boxes(app), 0)
      await lost
      await assert.rejects(sh(jobs, id, 'true'), ContainerLost)
    })

    await group.test('a signal ends the command, and the container can go on', async () => {
      const id = await open(app)
      const ending = new AbortController()
      let begun = false
      const running = jobs.run(
        id,
        { text: 'echo begun; exec sleep 7777', timeoutMs: 400_000, onStdout: () => (begun = true) },
        ending.signal,
      )
      const ended = assert.rejects(running)
      await until('output', async () => begun)
      ending.abort()
      await ended
      const { stdout } = await sh(jobs, id, `cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep [7]777'`)
      assert.equal(stdout, '0\n')
      await jobs.close(id)
    })

    await group.test('one whose opener is gone expires when it has not been used', async () => {
      const id = await open(app)
      await sh(jobs, id, 'true')
      await makeDue(app, id)
      const use = { db: app.db.as<ContainersTables>(), blobs: app.wired.blobs, inUse: async () => new Set<string>() }
      await sweepContainers(use)
      await until('the end of the box', async () => (await boxes(app)) === 0)
      await assert.rejects(sh(jobs, id, 'true'), ContainerLost)
    })
  })
}
