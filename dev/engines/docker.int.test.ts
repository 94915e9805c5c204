import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import Docker from 'dockerode'
import { ensureImage } from '../../sandbox/runtime/ensure-image.ts'
import { canUnpackPackages } from './apt-packages.ts'
import { findDocker, unpackDocker } from './docker-programs.ts'
import { listDockerProcesses, listMounts } from './docker-remains.ts'
import { startDocker } from './docker.ts'
import { holdSharedDocker, sharedDocker } from './shared-docker.ts'
import { scratch } from './testing/scratch.ts'
import { becomesTrue } from './wait-until.ts'

const RUNTIMES = ['runc', 'runsc'] as const
const SAYS = 'cat /proc/version; id -u; pwd'
const OTHER_USER_BOUND_MS = 60_000
const IP_FORWARD = '/proc/sys/net/ipv4/ip_forward'
const needs = { skip: process.getuid?.() === 0 ? false : 'needs root' }

async function startBox(docker: Docker, image: string, runtime: (typeof RUNTIMES)[number]): Promise<Docker.Container> {
  const box = await docker.createContainer({
    Image: image,
    HostConfig: { Runtime: runtime, NetworkMode: 'none', Init: true, CapDrop: ['ALL'], ReadonlyRootfs: true },
  })
  await box.start()
  return box
}

async function ask(box: Docker.Container, command: string): Promise<string> {
  const exec = await box.exec({ Cmd: ['sh', '-c', command], User: '1000:1000', AttachStdout: true, Tty: true })
  const stream = await exec.start({ Tty: true })
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

test('containers run on runc and on gVisor, and outlive a killed and a restarted engine', needs, async (t) => {
  const { folder, own } = scratch(t)
  const forwarded = readFileSync(IP_FORWARD, 'utf8')
  const engine = own(await startDocker({ dataDir: join(folder, 'docker') }))
  const image = await ensureImage('slim', engine.socket)
  const docker = new Docker({ socketPath: engine.socket })
  const boxes = await Promise.all(RUNTIMES.map(async (runtime) => await startBox(docker, image, runtime)))
  for (const [index, box] of boxes.entries()) {
    const said = await ask(box, SAYS)
    assert.match(said, /\b1000\r\n\/mnt\/data\r\n$/)
    // gVisor answers with a kernel of its own.
    const ownKernel = said.startsWith(readFileSync('/proc/version', 'utf8').trim())
    assert.equal(ownKernel, RUNTIMES[index] === 'runc', said)
  }

  const pids = await Promise.all(boxes.map(async (box) => (await box.inspect()).State.Pid))
  await engine.kill9()
  await engine.restart()
  await engine.restart()
  for (const [index, box] of boxes.entries()) {
    const { State } = await box.inspect()
    assert.deepEqual([State.Running, State.Pid], [true, pids[index]])
    assert.match(await ask(box, SAYS), /\/mnt\/data\r\n$/)
  }
  assert.equal(readFileSync(IP_FORWARD, 'utf8'), forwarded, 'the network of the machine stays as it is')

  await engine.stop()
  assert.deepEqual(listDockerProcesses(engine.folders), [])
  assert.deepEqual(listMounts(engine.folders), [])
  assert.ok(!existsSync(engine.socket))
})

test('an engine that was killed leaves nothing when stopped, and starts again on the same data', needs, async (t) => {
  const { folder, own } = scratch(t)
  const engine = own(await startDocker({ dataDir: join(folder, 'docker') }))
  const image = await ensureImage('slim', engine.socket)
  const docker = new Docker({ socketPath: engine.socket })
  for (const runtime of RUNTIMES) await startBox(docker, image, runtime)
  assert.ok(listDockerProcesses(engine.folders).length > RUNTIMES.length)

  await engine.kill9()
  await engine.stop()
  assert.deepEqual(listDockerProcesses(engine.folders), [])
  assert.deepEqual(listMounts(engine.folders), [])

  await engine.restart()
  const left = await docker.listContainers({ all: true })
  assert.deepEqual(
    left.map(({ State }) => State),
    ['exited', 'exited'],
  )
  assert.equal(await ensureImage('slim', engine.socket), image)
})

test('an engine whose owner died is taken over with its containers', needs, async (t) => {
  const { folder, own } = scratch(t)
  const dataDir = join(folder, 'docker')
  const other = spawn(process.execPath, ['--input-type=module', '-e', owningProgram(dataDir)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => other.kill('SIGKILL'))
  let said = ''
  other.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  assert.ok(await becomesTrue(() => said.includes('\n'), OTHER_USER_BOUND_MS))
  other.kill('SIGKILL')
  await once(other, 'exit')

  const engine = own(await startDocker({ dataDir }))
  const { State } = await new Docker({ socketPath: engine.socket }).getContainer(said.trim()).inspect()
  assert.equal(State.Running, true)
})

test('the engine is unpacked from the distribution, and runs from there', needs, async (t) => {
  if (!canUnpackPackages()) return t.skip('needs apt')
  const { folder, own } = scratch(t)
  const enginesDir = join(folder, 'engines')
  const programs = await unpackDocker(enginesDir)
  assert.deepEqual(findDocker(enginesDir), programs)
  const engine = own(await startDocker({ dataDir: join(folder, 'docker'), enginesDir }))
  const docker = new Docker({ socketPath: engine.socket })
  const { ServerVersion } = (await docker.info()) as { ServerVersion: string }
  assert.ok(ServerVersion.startsWith(engine.version))
})

test('processes share one engine, and only the last to leave or to hold it stops it', needs, async (t) => {
  const { folder } = scratch(t)
  const other = spawn(process.execPath, ['--input-type=module', '-e', sharingProgram(folder)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => other.kill('SIGKILL'))
  let said = ''
  other.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  assert.ok(await becomesTrue(() => said.includes('\n'), OTHER_USER_BOUND_MS))

  const first = await sharedDocker({ folder })
  t.after(async () => await first.stop())
  assert.equal(said.trim(), first.socket)
  const second = await sharedDocker({ folder })
  t.after(async () => await second.stop())
  // The process that started the engine goes without a word.
  other.kill('SIGKILL')
  await once(other, 'exit')
  await first.stop()
  const docker = new Docker({ socketPath: second.socket })
  assert.equal(String(await docker.ping()), 'OK')
  const held = await holdSharedDocker({ folder })
  t.after(async () => await held.stop())
  await second.stop()
  assert.equal(String(await docker.ping()), 'OK')
  await held.stop()
  assert.ok(!existsSync(second.socket))
  const listed = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
  assert.ok(!listed.includes(second.socket), 'no process of the engine is left')
})

function owningProgram(dataDir: string): string {
  return `
    import Docker from 'dockerode'
    import { ensureImage } from ${JSON.stringify(new URL('../../sandbox/runtime/ensure-image.ts', import.meta.url).href)}
    import { startDocker } from ${JSON.stringify(new URL('docker.ts', import.meta.url).href)}
    const { socket } = await startDocker({ dataDir: ${JSON.stringify(dataDir)} })
    const Image = await ensureImage('slim', socket)
    const box = await new Docker({ socketPath: socket }).createContainer({ Image, HostConfig: { NetworkMode: 'none' } })
    await box.start()
    console.log(box.id)`
}

function sharingProgram(folder: string): string {
  const module = new URL('shared-docker.ts', import.meta.url).href
  return `
    import { holdSharedDocker, sharedDocker } from ${JSON.stringify(module)}
    const shared = await sharedDocker({ folder: ${JSON.stringify(folder)} })
    console.log(shared.socket)
    setInterval(() => {}, 1_000)`
}
