import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const boundMs = 30_000
const yaml = `
name: x
rows: [{ item: {} }]
testing_criteria: [{ type: string_check, name: same, input: a, operation: eq, reference: a }]
`
/** The eval and its run in one, for a server that answers everything with the same. */
const done = {
  id: 'evalrun_1',
  name: 'x',
  testing_criteria: [],
  status: 'completed',
  report_url: 'http://127.0.0.1/report',
  result_counts: { total: 1, passed: 1, failed: 0, errored: 0 },
  per_model_usage: null,
  per_testing_criteria_results: null,
  error: null,
}

interface Told {
  readonly reply?: object
  /** Nobody reads what it says. */
  readonly unread?: boolean
}

async function evalsRun(t: TestContext, folder: string, { reply = done, unread = false }: Told, ...args: string[]) {
  let requests = 0
  const server = createServer((_request, response) => {
    requests += 1
    response.end(JSON.stringify(reply))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const child = spawn(process.execPath, [main, 'evals', 'run', 'eval.yaml', ...args], {
    cwd: folder,
    env: { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'sk-1' },
    timeout: boundMs,
  })
  t.after(() => child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  if (unread) for (const stream of [child.stdout, child.stderr]) stream.destroy()
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { code, out, err, requests }
}

test('switchyard evals run, whatever goes wrong around the run', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-evals-run-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'eval.yaml'), yaml)
  const run = async (told: Told, ...args: string[]) => await evalsRun(t, folder, told, ...args)

  await t.test('a JUnit file that has no folder is refused before anything is started', async () => {
    const { code, err, requests } = await run({}, '--junit', 'missing/x.xml')
    assert.deepEqual([code, requests], [3, 0], err)
    assert.match(err, /^--junit: missing is no folder to write to \(ENOENT\)\.\n$/)
  })

  await t.test('a JUnit file that cannot be written costs nobody the report', async () => {
    const { code, out, err } = await run({}, '--junit', folder)
    assert.equal(code, 2)
    assert.match(out, /✓ 1 of 1 rows passed \(100 %\)\.\n$/)
    assert.match(err, /--junit: \S+ could not be written \(EISDIR\)\.\n$/)
  })

  await t.test('what nobody foresaw is not taken for rows that failed', async () => {
    const { code, err } = await run({ reply: {} })
    assert.equal(code, 2, err)
  })

  await t.test('the exit code is right even if nobody reads the report', async () => {
    assert.equal((await run({ unread: true })).code, 0)
  })
})
