import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { TestContext } from 'node:test'
import { becomesTrue } from './engines/wait-until.ts'
import { isAlive } from './processes.ts'
import { startTestServices } from './test-services.ts'

const BOUND_MS = 60_000
const NAMES = [
  'SWITCHYARD_TEST_POSTGRES_URL',
  'SWITCHYARD_TEST_VALKEY_URL',
  'SWITCHYARD_TEST_RESTATE_INGRESS_URL',
  'SWITCHYARD_TEST_RESTATE_ADMIN_URL',
  'SWITCHYARD_TEST_RESTATE_IDENTITY_KEY',
]

/** Runs the command as a developer would, in a temporary folder of its own and without services given. */
function runCommand(temp: string) {
  const own = Object.entries(process.env).filter(([name]) => !NAMES.includes(name) && !name.startsWith('NODE_TEST'))
  const env = { ...Object.fromEntries(own), TMPDIR: temp }
  const command = spawn(process.execPath, [join(import.meta.dirname, 'test-services.ts')], { env })
  let printed = ''
  command.stdout.on('data', (text) => (printed += String(text)))
  command.stderr.on('data', (text) => (printed += String(text)))
  const ended = new Promise((resolve) => command.once('exit', resolve))
  const ready = async () =>
    await becomesTrue(() => NAMES.every((name) => printed.includes(`export ${name}='`)), BOUND_MS)
  return { command, ended, ready, printed: () => printed }
}

function enginePids(temp: string): number[] {
  const [folder = ''] = readdirSync(temp)
  return ['postgres', 'valkey', 'restate'].map((name) => {
    const record = readFileSync(join(temp, folder, name, `${name}.pid`), 'utf8')
    return (JSON.parse(record) as { pid: number }).pid
  })
}

function tempFolder(t: TestContext): string {
  const temp = mkdtempSync(join(tmpdir(), 'switchyard-services-'))
  t.after(() => rmSync(temp, { recursive: true, force: true }))
  return temp
}

test('the command prints every address, and leaves no process and no folder when asked to end', async (t) => {
  const temp = tempFolder(t)
  const run = runCommand(temp)
  t.after(() => run.command.kill('SIGTERM'))
  assert.equal(await run.ready(), true, run.printed())
  const pids = enginePids(temp)
  assert.deepEqual(pids.map(isAlive), [true, true, true])
  run.command.kill('SIGTERM')
  assert.equal(await run.ended, 0)
  assert.deepEqual(pids.map(isAlive), [false, false, false])
  assert.deepEqual(readdirSync(temp), [])
})

test('what a killed run left behind is gone after the next one', async (t) => {
  const temp = tempFolder(t)
  const killed = runCommand(temp)
  assert.equal(await killed.ready(), true, killed.printed())
  const pids = enginePids(temp)
  killed.command.kill('SIGKILL')
  await killed.ended
  const next = runCommand(temp)
  t.after(() => next.command.kill('SIGTERM'))
  assert.equal(await next.ready(), true, next.printed())
  assert.deepEqual(pids.map(isAlive), [false, false, false])
  next.command.kill('SIGTERM')
  await next.ended
  assert.deepEqual(readdirSync(temp), [])
})

test('services that the environment names are used and left alone', async (t) => {
  const before = NAMES.map((name) => [name, process.env[name]] as const)
  t.after(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  for (const name of NAMES) process.env[name] = `given ${name}`
  const services = await startTestServices()
  await services.stop()
  assert.deepEqual(services.env, Object.fromEntries(NAMES.map((name) => [name, `given ${name}`])))
})
