import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { listEvalRuns } from '@switchyard/contracts/evals/runs.ts'
import { evalsKit, type EvalsKit } from '#modules/evals/testing/evals-kit.ts'
import { becomesTrue } from '../../../dev/engines/wait-until.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const example = fileURLToPath(new URL('../../../docs/examples/evals/tickets/', import.meta.url))
const boundMs = 60_000

interface Running {
  said(): string
  interrupt(): void
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>
}

function switchyard(t: TestContext, env: Record<string, string>, ...args: string[]): Running {
  const options = { env: { PATH: process.env['PATH'] ?? '', ...env }, cwd: tmpdir() }
  const child = spawn(process.execPath, [main, 'evals', 'run', ...args], { ...options, timeout: boundMs })
  t.after(() => child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  return {
    said: () => out + err,
    interrupt: () => void child.kill('SIGINT'),
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err }))),
  }
}

const keysOf = ({ app }: EvalsKit) => ({ OPENAI_BASE_URL: `${app.baseUrl}/v1`, OPENAI_API_KEY: app.project.key })

/** Answers as the rehearsal model does: every label right but one. */
function answerTickets({ app }: EvalsKit): void {
  const lines = readFileSync(join(example, 'tickets.jsonl'), 'utf8').trim().split('\n')
  const rows = lines.map((line) => (JSON.parse(line) as { item: { ticket_text: string; correct_label: string } }).item)
  app.double.decide((body) => {
    const asked = JSON.stringify(body)
    if (asked.includes('meeting room')) return 'Hardware'
    return rows.find(({ ticket_text: text }) => asked.includes(text))?.correct_label ?? 'Other'
  })
}

test('switchyard evals run', async (t) => {
  const kit = await evalsKit(t)
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-evals-run-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const yaml = readFileSync(join(example, 'eval.yaml'), 'utf8').replace('model: rehearsal', 'model: double-chat')
  const tickets = write('eval.yaml', yaml)
  write('tickets.jsonl', readFileSync(join(example, 'tickets.jsonl'), 'utf8'))

  await t.test('uploads, runs, waits and says what passed, for people, programs and pipelines', async (tt) => {
    answerTickets(kit)
    const xml = join(folder, 'junit.xml')
    const { code, out, err } = await switchyard(tt, keysOf(kit), tickets, '--junit', xml).ended
    assert.equal(code, 0, out + err)
    assert.match(err, /^Uploaded tickets\.jsonl as file-\S+\nStarted evalrun_\S+: http/)
    assert.match(out, /^IT Ticket Categorization\n/)
    assert.match(out, /Match output to human label {6}11 {7}1 {2}91\.6 %/)
    assert.match(out, /row 12 Match output to human label: not equal\n +expected +Software\n +got +Hardware\n/)
    assert.match(out, /✓ 11 of 12 rows passed \(91\.6 %\)\.\n$/)
    assert.match(readFileSync(xml, 'utf8'), /tests="4" failures="0" errors="0" skipped="1"/)

    const strict = write('strict.yaml', yaml.replace('pass_rate_min: 0.9', 'pass_rate_min: 1'))
    const below = await switchyard(tt, keysOf(kit), strict, '--json', '--failing=0').ended
    assert.equal(below.code, 1, below.err)
    const { outcome, result_counts: counts, failing_rows: rows } = JSON.parse(below.out) as Record<string, unknown>
    assert.deepEqual([outcome, counts, rows], ['below', { total: 12, errored: 0, failed: 1, passed: 11 }, []])
  })

  await t.test('rows that err, and a run that fails, are told apart from rows that fail', async (tt) => {
    answerTickets(kit)
    write('bad.jsonl', 'no JSON\n')
    const erring = write('erring.yaml', yaml.replace('tickets.jsonl', 'bad.jsonl'))
    const { code, out } = await switchyard(tt, keysOf(kit), erring).ended
    assert.equal(code, 2)
    assert.match(out, /row 1 invalid_row: Line 1: it is not JSON\./)
    write('blank.jsonl', '  \n\n')
    const blank = await switchyard(tt, keysOf(kit), write('blank.yaml', yaml.replace('tickets.jsonl', 'blank.jsonl')))
      .ended
    assert.deepEqual([blank.code, /has no rows/.test(blank.err)], [3, true])
  })

  await t.test('an interrupt cancels the run and says so', async (tt) => {
    kit.app.double.decide(() => new Promise(() => undefined))
    const running = switchyard(tt, keysOf(kit), tickets)
    assert.ok(await becomesTrue(() => running.said().includes('Started evalrun_'), boundMs))
    const [, evalId = ''] = /\/evals\/(eval_\w+)\/runs/.exec(running.said()) ?? []
    running.interrupt()
    const { code, out, err } = await running.ended
    assert.deepEqual(
      [code, /Cancelling the run/.test(err), out.endsWith('! The run was cancelled.\n')],
      [2, true, true],
    )
    const runs = await kit.app.call(listEvalRuns, { params: { eval_id: evalId } })
    assert.deepEqual(
      runs.body.data.map(({ status }) => status),
      ['canceled'],
    )
  })

  await t.test('what is wrong with the command, the file or the key is exit code 3', async (tt) => {
    const run = async (env: Record<string, string>, ...args: string[]) => await switchyard(tt, env, ...args).ended
    const keys = keysOf(kit)
    const key = await run({ ...keys, OPENAI_API_KEY: 'sk-proj-nobody' }, tickets)
    assert.deepEqual([key.code, /key/i.test(key.err)], [3, true], key.err)
    const model = await run(keys, write('model.yaml', yaml.replace('double-chat', 'nobody')))
    assert.deepEqual([model.code, /No model of this name/.test(model.err)], [3, true], model.err)
    const unknown = await run(keys, write('odd.yaml', `${yaml}odd: 1\n`))
    assert.deepEqual([unknown.code, /odd\.yaml:\d+:1: odd: there is no such key/.test(unknown.err)], [3, true])
    const nowhere = await run({}, tickets)
    assert.deepEqual([nowhere.code, /OPENAI_BASE_URL/.test(nowhere.err)], [3, true])
    assert.equal((await run(keys, tickets, '--nonsense')).code, 3)
    const help = await run({}, '--help')
    assert.deepEqual([help.code, /Exit code:\n {2}0/.test(help.out)], [0, true])
  })
})
