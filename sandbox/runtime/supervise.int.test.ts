import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'

const SOURCE = new URL('supervise.c', import.meta.url).pathname
const CFLAGS = ['-static', '-O2', '-Wall', '-Wextra', '-Werror']
const UID = 1000
const WAIT_MS = 10_000
const POLL_MS = 20
const MIB = 1024 * 1024
/** Above what a development machine runs as this user, far below what would hurt it. */
const PROCESS_LIMIT = 150

type Outcome = { outcome: string; exit_code?: number; stdout_bytes: number; stderr_bytes: number }
type Options = { timeoutMs?: number; captureBytes?: number; folder?: string; processLimit?: number; fileLimit?: number }

const hasCompiler = spawnSync('cc', ['--version']).status === 0
const skip = hasCompiler ? false : 'cc is not installed'
/** Only root may start a program as somebody else; anybody else tests it as themselves. */
const identity = process.getuid?.() === 0 ? { uid: UID, gid: UID } : {}

let program = ''
let root = ''
let spools = 0

test.before(() => {
  if (!hasCompiler) return
  root = mkdtempSync(join(tmpdir(), 'switchyard-supervise-'))
  chmodSync(root, 0o755)
  program = join(root, 'supervise')
  const compiled = spawnSync('cc', [...CFLAGS, '-o', program, SOURCE], { encoding: 'utf8' })
  assert.equal(compiled.status, 0, compiled.stderr)
})
test.after(() => {
  if (root !== '') rmSync(root, { recursive: true, force: true })
})

function makeFolder(): string {
  const folder = join(root, `spool-${++spools}`)
  mkdirSync(folder)
  if (identity.uid !== undefined) chownSync(folder, identity.uid, identity.gid)
  return folder
}

function start(command: string, options: Options = {}): { spool: string; front: ChildProcess } {
  const { timeoutMs = WAIT_MS, captureBytes = MIB, folder = root, processLimit, fileLimit } = options
  const spool = makeFolder()
  const words = [program, spool, String(timeoutMs), String(captureBytes), folder, command]
  if (processLimit !== undefined) words.unshift('prlimit', `--nproc=${processLimit}`)
  if (fileLimit !== undefined) words.unshift('prlimit', `--fsize=${fileLimit}`)
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', SPOOL: spool }
  const front = spawn(words[0] ?? '', words.slice(1), { ...identity, env, stdio: 'ignore' })
  return { spool, front }
}

async function finish({ spool, front }: { spool: string; front: ChildProcess }) {
  if (front.exitCode === null) await once(front, 'exit')
  return { spool, code: front.exitCode, ...read(spool) }
}

function read(spool: string) {
  const text = (name: string) => readFileSync(join(spool, name), 'utf8')
  return { record: JSON.parse(text('exit')) as Outcome, stdout: text('stdout'), stderr: text('stderr') }
}

const run = (command: string, options?: Options) => finish(start(command, options))

async function until<T>(what: string, look: () => T | undefined): Promise<T> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await delay(POLL_MS)) {
    const found = look()
    if (found !== undefined) return found
  }
  return assert.fail(`Not within ${WAIT_MS} ms: ${what}`)
}

const content = (path: string) => () => {
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

/** A zombie counts as gone: it runs nothing any more. */
function lives(pid: string): boolean {
  const status = content(`/proc/${pid}/status`)()
  return status !== undefined && !/^State:\s+[ZX]/m.test(status)
}
const gone = (pid: string) => until(`the end of process ${pid}`, () => (lives(pid) ? undefined : true))

function endAfter(t: TestContext, pid: string): void {
  t.after(() => {
    if (lives(pid)) process.kill(Number(pid), 'SIGKILL')
  })
}

test('a command keeps its exit code and its two streams apart', { skip }, async () => {
  const { code, record, stdout, stderr } = await run('echo to-out; echo to-err >&2; exit 3')
  assert.deepEqual(record, { outcome: 'exit', exit_code: 3, stdout_bytes: 7, stderr_bytes: 7 })
  assert.deepEqual({ code, stdout, stderr }, { code: 3, stdout: 'to-out\n', stderr: 'to-err\n' })
})

test('a command that a signal ended reports 128 and the signal', { skip }, async () => {
  assert.equal((await run('kill -9 $$')).record.exit_code, 137)
  assert.equal((await run('kill -TERM $$')).record.exit_code, 143)
})

test('a command has no input, no terminal, no foreign descriptors and plain signals', { skip }, async () => {
  const { stdout } = await run(
    [
      'cat | wc -c',
      'test -t 0 || test -t 1 || test -t 2 || echo no-tty',
      '(: </dev/tty) 2>/dev/null || echo no-controlling-tty',
      'ls /proc/$$/fd | tr "\\n" " "; echo',
      'grep -E "^Sig(Blk|Ign)" /proc/self/status | cut -f2 | sort -u',
      'umask; pwd',
    ].join('; '),
  )
  assert.deepEqual(stdout.trim().split('\n'), [
    '0',
    'no-tty',
    'no-controlling-tty',
    '0 1 2 ',
    '0000000000000000',
    '0022',
    root,
  ])
})

test('a working folder that is gone is replaced by the root folder', { skip }, async () => {
  assert.equal((await run('pwd', { folder: join(root, 'missing') })).stdout, '/\n')
})

test('a time-out keeps what was written and ends daemons of that command only', { skip }, async (t) => {
  const earlier = await run('sleep 300 & echo $!')
  const service = earlier.stdout.trim()
  endAfter(t, service)
  const pids = join(makeFolder(), 'daemon')
  const daemon = `setsid bash -c '(setsid bash -c "echo \\$\\$ >${pids}; trap : TERM HUP; while :; do sleep 1; done" &)'`
  const started = Date.now()
  const { code, record, stdout } = await run(`echo partial; ${daemon}; sleep 300`, { timeoutMs: 700 })
  const took = Date.now() - started
  assert.deepEqual(record, { outcome: 'timeout', stdout_bytes: 8, stderr_bytes: 0 })
  assert.deepEqual({ code, stdout }, { code: 124, stdout: 'partial\n' })
  assert.ok(took >= 700 && took < 5000, `took ${took} ms`)
  assert.equal(lives(readFileSync(pids, 'utf8').trim()), false)
  assert.equal(lives(service), true)
})

test('a server left in the background lives on and can still write', { skip }, async (t) => {
  const log = join(makeFolder(), 'log')
  const go = `${log}.go`
  const server = `echo $BASHPID; until test -e ${go}; do sleep 0.05; done; head -c ${MIB} /dev/zero; echo; echo wrote >${log}; sleep 300`
  const { record, stdout } = await run(`(${server}) & sleep 0.2; echo started`)
  const pid = stdout.split('\n')[0] ?? ''
  endAfter(t, pid)
  assert.equal(record.outcome, 'exit')
  assert.match(stdout, /^\d+\nstarted\n$/)
  writeFileSync(go, '')
  assert.equal(await until('a line of the server', content(log)), 'wrote')
  assert.equal(lives(pid), true)
})

test('the supervisor ends with the last process that the command left', { skip }, async () => {
  const { stdout } = await run('echo $PPID; sleep 0.5 &')
  const supervisor = stdout.trim()
  assert.equal(lives(supervisor), true)
  await gone(supervisor)
})

test('a flood of output is counted whole, kept up to the limit and costs no space', { skip }, async () => {
  const started = Date.now()
  const { record, spool } = await run('head -c 1000000000 /dev/zero; echo end >&2', { captureBytes: 1000 })
  assert.deepEqual(record, { outcome: 'exit', exit_code: 0, stdout_bytes: 1_000_000_000, stderr_bytes: 4 })
  assert.equal(statSync(join(spool, 'stdout')).size, 1000)
  assert.ok(Date.now() - started < WAIT_MS)
})

test('a child that floods in the background does not hold up the end', { skip }, async (t) => {
  const { record, stderr, spool } = await run('yes & echo $! >&2; exit 5', { timeoutMs: 5000 })
  const pid = stderr.trim()
  endAfter(t, pid)
  assert.equal(record.exit_code, 5)
  assert.equal(lives(pid), true)
  assert.ok(statSync(join(spool, 'stdout')).size <= MIB)
})

test('a running command shows that it is alive, and a cancel ends all of it', { skip }, async () => {
  const running = start('echo before; (setsid sleep 300 & echo $!); sleep 300')
  const output = join(running.spool, 'stdout')
  await until('both lines', () => (content(output)()?.includes('\n') ? true : undefined))
  const first = statSync(join(running.spool, 'alive')).mtimeMs
  await until('a touch', () => (statSync(join(running.spool, 'alive')).mtimeMs > first ? true : undefined))
  assert.equal(spawnSync(program, ['--kill', running.spool], identity).status, 0)
  const { code, record, stdout } = await finish(running)
  assert.deepEqual({ code, outcome: record.outcome }, { code: 130, outcome: 'cancelled' })
  assert.equal(lives(stdout.trim().split('\n')[1] ?? ''), false)
})

test('a command that signals its supervisor is not taken for a cancel', { skip }, async () => {
  const { record } = await run('kill -TERM $PPID; kill -HUP $PPID; kill -USR1 $PPID; sleep 0.3; exit 4')
  assert.deepEqual({ outcome: record.outcome, code: record.exit_code }, { outcome: 'exit', code: 4 })
})

test('a fork loop at the process limit is ended by the time-out', { skip }, async () => {
  const bomb = 'f() { f & f & wait; sleep 60; }; f 2>/dev/null'
  const started = Date.now()
  const { record, stdout } = await run(`echo $PPID; ${bomb}`, { timeoutMs: 1000, processLimit: PROCESS_LIMIT })
  assert.equal(record.outcome, 'timeout')
  assert.ok(Date.now() - started < WAIT_MS)
  await gone(stdout.split('\n')[0] ?? '')
})

test('a full process limit is said where the user looks', { skip }, async () => {
  for (const processLimit of [1, 2]) {
    const { record, stderr } = await run('echo never', { processLimit })
    assert.deepEqual({ outcome: record.outcome, code: record.exit_code }, { outcome: 'exit', code: 254 })
    assert.match(stderr, /process limit/)
    assert.equal(record.stderr_bytes, stderr.length)
  }
})

test('a command that removes or replaces its record still gets one', { skip }, async () => {
  const removed = await finish(start('cd "$SPOOL"; rm -f exit.tmp alive; exit 6'))
  assert.equal(removed.record.exit_code, 6)
  const linked = await run('cd "$SPOOL"; ln -sf /etc/passwd exit.tmp; exit 7')
  assert.equal(linked.record.exit_code, 7)
})

test('a spool that takes no more output costs the rest of the output only', { skip }, async () => {
  const { record, stdout } = await run('head -c 100000 /dev/zero; exit 8', { fileLimit: 4096 })
  assert.deepEqual(record, { outcome: 'exit', exit_code: 8, stdout_bytes: 100_000, stderr_bytes: 0 })
  assert.equal(stdout.length, 4096)
})
