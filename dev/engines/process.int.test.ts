import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { isAlive } from '../processes.ts'
import { startProcess } from './process.ts'
import { scratch } from './testing/scratch.ts'
import { becomesTrue } from './wait-until.ts'

const BOUND_MS = 10_000
const SAYS_READY = `console.log('ready'); setInterval(() => {}, 1000)`
const IGNORES_TERM = `process.on('SIGTERM', () => {}); ${SAYS_READY}`

function places(folder: string, name = 'child') {
  return { name, logFile: join(folder, `${name}.log`), pidFile: join(folder, `${name}.pid`) }
}

const saidReady = (logFile: string) => () => readFileSync(logFile, 'utf8').includes('ready')

test('a process is ready when its probe says so, and gone after stop', async (t) => {
  const { folder, own } = scratch(t)
  const told: string[] = []
  const at = places(folder)
  const onProgress = (line: string) => told.push(line)
  const child = own(await startProcess(process.execPath, ['-e', SAYS_READY], { ...at, onProgress }))
  await child.waitReady(saidReady(at.logFile), BOUND_MS)
  const { pid } = child
  assert.equal(isAlive(pid), true)
  await child.stop()
  assert.equal(isAlive(pid), false)
  assert.equal(child.running, false)
  assert.deepEqual(
    told.map((line) => line.replace(/\d+/, 'N')),
    ['child: started, pid N', 'child: ready after N ms', 'child: ended (signal SIGTERM)'],
  )
})

test('a process that ignores the request to end, or is frozen, is killed after the bound', async (t) => {
  const { folder, own } = scratch(t)
  const at = { ...places(folder), stopBoundMs: 200 }
  const child = own(await startProcess(process.execPath, ['-e', IGNORES_TERM], at))
  await child.waitReady(saidReady(at.logFile), BOUND_MS)
  process.kill(child.pid, 'SIGSTOP')
  await child.stop()
  assert.equal(child.running, false)
})

test('a crash is told to the owner, a kill that the owner asked for is not', async (t) => {
  const { folder, own } = scratch(t)
  const reasons: string[] = []
  const at = { ...places(folder), onUnexpectedExit: (reason: string) => reasons.push(reason) }
  const child = own(await startProcess(process.execPath, ['-e', SAYS_READY], at))
  await child.kill9()
  assert.deepEqual(reasons, [])
  await child.restart()
  process.kill(child.pid, 'SIGKILL')
  assert.equal(await becomesTrue(() => reasons.length > 0, BOUND_MS), true)
  assert.deepEqual(reasons, ['signal SIGKILL'])
})

test('one that ends before it is ready fails with the end of its log', async (t) => {
  const { folder } = scratch(t)
  const at = places(folder)
  const child = await startProcess(process.execPath, ['-e', `console.error('disk is full'); process.exit(3)`], at)
  await assert.rejects(
    child.waitReady(() => false, BOUND_MS),
    /child ended before it was ready \(exit code 3\)[^]*disk is full/,
  )
  const missing = startProcess(join(folder, 'no-such-program'), [], at)
  await assert.rejects(missing, /child could not be started: .*no-such-program/)
})

test('what a killed owner leaves behind is ended by the next start', async (t) => {
  const { folder, own } = scratch(t)
  const at = places(folder)
  const ownerFile = join(folder, 'owner.ts')
  const source = `import { startProcess } from ${JSON.stringify(join(import.meta.dirname, 'process.ts'))}
    const child = await startProcess(process.execPath, ['-e', ${JSON.stringify(SAYS_READY)}], ${JSON.stringify(at)})
    await child.waitReady(() => true, 1000)
    console.log(child.pid)`
  writeFileSync(ownerFile, source)
  const owner = spawn(process.execPath, [ownerFile], { stdio: ['ignore', 'pipe', 'inherit'] })
  const said = await new Promise((resolve) => owner.stdout.once('data', resolve))
  const orphan = Number(String(said))
  assert.equal(isAlive(orphan), true)

  const inUse = startProcess(process.execPath, ['-e', SAYS_READY], at)
  await assert.rejects(inUse, /is in use: process \d+ belongs to process \d+/)
  assert.equal(isAlive(orphan), true)

  const ended = new Promise((resolve) => owner.once('exit', resolve))
  owner.kill('SIGKILL')
  await ended
  const next = own(await startProcess(process.execPath, ['-e', SAYS_READY], at))
  assert.equal(isAlive(orphan), false)
  assert.notEqual(next.pid, orphan)
})

test('a pid that now belongs to somebody else is left alone', async (t) => {
  const { folder, own } = scratch(t)
  const bystander = own(await startProcess(process.execPath, ['-e', SAYS_READY], places(folder, 'bystander')))
  const at = places(folder)
  const record = { pid: bystander.pid, identity: 'another:1', ownerPid: 1, ownerIdentity: 'another:1' }
  writeFileSync(at.pidFile, JSON.stringify(record))
  own(await startProcess(process.execPath, ['-e', SAYS_READY], at))
  assert.equal(isAlive(bystander.pid), true)
})
