import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { scratch } from './engines/testing/scratch.ts'
import { checkNode, doctorExitCode, formatDoctor, runDoctor } from './doctor.ts'
import type { Check } from './doctor.ts'

const ADVICE = { debian: 'apt-get install it', fedora: 'dnf install it', macos: 'brew install it' }

test('a machine that can run the tests passes, and every check says how to get what it looks for', async (t) => {
  const { folder } = scratch(t)
  const checks = await runDoctor({ dataDir: folder, ports: [] })
  assert.deepEqual(
    checks.filter((check) => check.status === 'fail'),
    [],
  )
  assert.equal(doctorExitCode(checks), 0)
  assert.deepEqual(
    checks.map((check) => check.name),
    ['Node.js', 'PostgreSQL', 'PostgreSQL user', 'Valkey', 'Restate', 'Free disk', 'Docker'],
  )
  for (const { advice } of checks) assert.ok(advice.debian !== '' && advice.fedora !== '' && advice.macos !== '')
})

test('a port that is taken is reported with what it is wanted for', async (t) => {
  const { folder } = scratch(t)
  const server = createServer()
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const checks = await runDoctor({ dataDir: folder, ports: [{ port, use: 'the API' }] })
  const check = checks.find(({ name }) => name === `Port ${port}`)
  assert.equal(check?.status, 'warn')
  assert.equal(check.found, 'taken, but wanted for the API')
})

test('an old Node.js fails, and the exit code says so', () => {
  const versions = ['20.20.2', '24.20.9', '24.21.0', '25.0.0']
  assert.deepEqual(
    versions.map((version) => checkNode(version).status),
    ['fail', 'fail', 'ok', 'ok'],
  )
  assert.equal(doctorExitCode([checkNode('20.20.2')]), 1)
})

test('the printed form shows advice only for what is missing', () => {
  const checks: Check[] = [
    { name: 'One', status: 'ok', found: '1.0', advice: ADVICE },
    { name: 'Second', status: 'fail', found: 'not found', advice: ADVICE },
  ]
  assert.equal(
    formatDoctor(checks),
    `\
ok    One     1.0
fail  Second  not found
              → Debian, Ubuntu: apt-get install it
              → Fedora: dnf install it
              → macOS: brew install it

2 checks: 1 failed, 0 to look at`,
  )
})
