import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { countingLine, countOutcomes, fileFailure, fileReport } from './counts.ts'
import type { FileResult } from './counts.ts'
import { runFiles } from './run-files.ts'
import { slowest } from './slowest.ts'

const TEST = "import { test } from 'node:test'\n"
const PLENTY_MS = 30_000

async function runTexts(t: TestContext, texts: Record<string, string>, fileLimitMs = PLENTY_MS): Promise<FileResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-run-files-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text)
  return await runFiles(Object.keys(texts), {
    root: pathToFileURL(`${folder}/`),
    env: { PLANTED: 'yes' },
    fileLimitMs,
    signal: t.signal,
    onResult: () => {},
  })
}

test('passes, failures and skips of all files are counted', async (t) => {
  const results = await runTexts(t, {
    'a.test.ts': `${TEST}test('one', () => {})\ntest('two', { skip: true }, () => {})\ntest('later', { todo: true }, () => { throw new Error('x') })\n`,
    'b.test.ts': `${TEST}test('env', () => { if (process.env.PLANTED !== 'yes') throw new Error('no env') })\ntest('bad', () => { throw new Error('outer', { cause: new Error('the cause') }) })\n`,
    'c.test.ts': `import { describe, test } from 'node:test'\ndescribe('suite', () => { test('inner', () => {}) })\n`,
  })
  assert.deepEqual(countOutcomes(results), { passed: 3, failed: 1, skipped: 2 })
  assert.deepEqual(results.map(fileFailure), [null, null, null])
  assert.match(fileReport(results[0]!), /^ok {3}a\.test\.ts \(3 tests, [\d.]+ s\)$/)
  assert.match(fileReport(results[1]!), /^FAIL b\.test\.ts[\s\S]*bad[\s\S]*outer[\s\S]*the cause/)
})

test('a file that breaks while loading is a failure with its error', async (t) => {
  const results = await runTexts(t, { 'a.test.ts': "console.log('loud')\nthrow new Error('at import')\n" })
  assert.equal(countOutcomes(results).failed, 1)
  assert.match(fileReport(results[0]!), /at import[\s\S]*loud/)
})

test('a file without a test is a failure', async (t) => {
  const results = await runTexts(t, { 'a.test.ts': 'export const x = 1\n' })
  assert.equal(results[0] === undefined ? null : fileFailure(results[0]), 'holds no test')
})

test('a file whose process dies is a failure even when its tests passed', async (t) => {
  const text = `${TEST}test('one', () => {})\nprocess.on('exit', () => { process.exitCode = 3 })\n`
  const results = await runTexts(t, { 'a.test.ts': text })
  assert.deepEqual(countOutcomes(results), { passed: 1, failed: 1, skipped: 0 })
})

test('a file that never ends is stopped at the limit, with what it left running', async (t) => {
  const hang = `${TEST}import { spawn } from 'node:child_process'\ntest('one', () => { const child = spawn('sleep', ['600'], { stdio: 'inherit' }); console.log('child', child.pid); setInterval(() => {}, 1000) })\n`
  const [result] = await runTexts(t, { 'a.test.ts': hang }, 2_000)
  assert.match(fileFailure(result!) ?? '', /did not end within 2 s/)
  const child = Number(/child (\d+)/.exec(result!.output)?.[1])
  assert.ok(child > 0)
  assert.ok(isGone(child), 'the process that the test started is gone')
})

test('a process left behind does not hold the run up', async (t) => {
  const text = `${TEST}import { spawn } from 'node:child_process'\ntest('one', () => { spawn('sleep', ['600'], { stdio: 'inherit' }).unref() })\n`
  const results = await runTexts(t, { 'a.test.ts': text })
  assert.deepEqual(countOutcomes(results), { passed: 1, failed: 0, skipped: 0 })
})

test('the counting line is plain, and speaks of skips only when there are some', () => {
  assert.equal(countingLine({ passed: 3, failed: 0, skipped: 0 }), '3 passed, 0 failed')
  assert.equal(countingLine({ passed: 3, failed: 1, skipped: 2 }), '3 passed, 1 failed, 2 skipped')
})

test('a run tells where its time went, and a quick one nothing', () => {
  const file = (path: string, ms: number): FileResult => ({
    path,
    ms,
    outcomes: [{ name: 'does', result: 'passed', ms: ms - 1_000 }],
    exitCode: 0,
    output: '',
  })
  const said = slowest([file('a.test.ts', 5_500), file('b.test.ts', 61_000), file('c.test.ts', 900)])
  assert.deepEqual(said.split(/\n\s*/), [
    'Slowest files',
    '61.0 s  b.test.ts',
    '5.5 s  a.test.ts',
    'Slowest tests',
    '60.0 s  b.test.ts: does',
  ])
  assert.equal(slowest([file('a.test.ts', 1_500)]), '')
})

/** Gone, or dead and waiting to be collected by whoever is its parent now. */
function isGone(pid: number): boolean {
  const stat = `/proc/${pid}/stat`
  return !existsSync(stat) || / Z /.test(readFileSync(stat, 'utf8'))
}
