import assert from 'node:assert/strict'
import type Docker from 'dockerode'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '#platform/std/ids.ts'
import { makeBoxFolder, removeBoxFolder } from '../server/src/modules/containers/host/box-folder.ts'
import { boxOptions } from '../server/src/modules/containers/host/box-options.ts'
import type { Runtime, SandboxBench } from './sandbox-stack.ts'

const memoryBytes = 1024 ** 3
const diskBytes = 10 * 1024 ** 3
const uid = 1_000
const limits = { cpus: 1, processes: 512 }
/** Each piece of what an exec prints has a head: one byte for the stream, three of nothing, four for its length. */
const headBytes = 8

/** A container made as the host makes its own, without the host. */
export async function withBareContainer<Result>(
  { docker, image }: SandboxBench,
  runtime: Runtime,
  work: (container: Docker.Container) => Promise<Result>,
): Promise<Result> {
  const root = mkdtempSync(join(tmpdir(), 'switchyard-bare-'))
  const folder = await makeBoxFolder(join(root, 'box'), { diskBytes, uid, quota: process.getuid?.() === 0 })
  const made = await docker.createContainer(
    boxOptions(newId('bare-'), {}, { image, runtime, memoryBytes }, limits, folder),
  )
  try {
    await made.start()
    return await work(made)
  } finally {
    await made.remove({ force: true })
    await removeBoxFolder(folder.root)
    rmSync(root, { recursive: true, force: true })
  }
}

/** What `docker exec` does: create, attach, collect, inspect. */
export async function bareExec(container: Docker.Container, command: string): Promise<string> {
  const exec = await container.exec({
    Cmd: ['bash', '-c', command],
    User: `${uid}:${uid}`,
    WorkingDir: '/mnt/data',
    AttachStdout: true,
    AttachStderr: true,
  })
  const stream = await exec.start({})
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(stream, 'end')
  assert.equal((await exec.inspect()).ExitCode, 0)
  return Buffer.concat(chunks).subarray(headBytes).toString('utf8')
}

/** What `docker run` and a first exec do, with nothing of ours bound into the container. Gives how to remove it. */
export async function bareRun(
  { docker, image }: SandboxBench,
  runtime: Runtime,
  command: string,
): Promise<{ stdout: string; remove: () => Promise<void> }> {
  const folder = { root: '', disk: '', skills: '', egress: '', spool: '', commands: '' }
  const options = boxOptions(newId('bare-'), {}, { image, runtime, memoryBytes }, limits, folder)
  const made = await docker.createContainer({ ...options, HostConfig: { ...options.HostConfig, Binds: [] } })
  const remove = async () => void (await made.remove({ force: true }))
  try {
    await made.start()
    return { stdout: await bareExec(made, command), remove }
  } catch (error) {
    await remove()
    throw error
  }
}
