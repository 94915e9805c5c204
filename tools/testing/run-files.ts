import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { FileResult, Outcome } from './counts.ts'

/** Two cores are what CI has, and a file waits for a third of its time; more only makes the waits of each longer. */
const FILES_AT_ONCE = 3
const KILL_AFTER_MS = 5_000
const OUTPUT_CHARS_MAX = 64 * 1024
const RUN_FILE = fileURLToPath(new URL('./run-file.ts', import.meta.url))

export interface RunOptions {
  root: URL
  env: Record<string, string | undefined>
  fileLimitMs: number
  signal: AbortSignal
  onResult: (result: FileResult) => void
}

/** Runs every file in a process of its own, a few at a time, and gives the results in the order of the files. */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<FileResult[]> {
  const results: FileResult[] = []
  let next = 0
  const lane = async () => {
    while (next < files.length && !options.signal.aborted) {
      const index = next
      next += 1
      const result = await runFile(files[index] ?? '', options)
      results[index] = result
      options.onResult(result)
    }
  }
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, lane))
  return results.filter((result) => result !== undefined)
}

async function runFile(path: string, { root, env, fileLimitMs, signal }: RunOptions): Promise<FileResult> {
  const startedAt = performance.now()
  // A group of its own, so that the limit also reaches what a test has started.
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', RUN_FILE, path], {
    cwd: fileURLToPath(root),
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const outcomes: Outcome[] = []
  let output = ''
  let overdue = false
  const keep = (chunk: Buffer) => {
    output = `${output}${chunk.toString()}`.slice(-OUTPUT_CHARS_MAX)
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  child.on('message', (outcome) => outcomes.push(outcome as Outcome))
  const stop = () => endGroup(child)
  signal.addEventListener('abort', stop, { once: true })
  const limit = setTimeout(() => {
    overdue = true
    stop()
  }, fileLimitMs)
  const exitCode = await ended(child, keep)
  clearTimeout(limit)
  signal.removeEventListener('abort', stop)
  const ms = performance.now() - startedAt
  return { path, ms, outcomes, exitCode, output, ...(overdue ? { limitMs: fileLimitMs } : {}) }
}

/** Waits until the process is gone and everything it sent has arrived. */
async function ended(child: ChildProcess, keep: (chunk: Buffer) => void): Promise<number | null> {
  const told = new Promise<void>((resolve) => child.once('disconnect', resolve))
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      keep(Buffer.from(String(error)))
      resolve(null)
    })
    // A process that a test left behind would hold the pipes open; it ends with the file that started it.
    child.once('exit', () => endGroup(child))
    child.once('close', resolve)
  })
  if (child.connected) await told
  return exitCode
}

/** Asks the whole group to end, so that tests can take down what they started, and ends it if it does not. */
function endGroup(child: ChildProcess): void {
  if (!signalGroup(child, 'SIGTERM')) return
  const kill = setTimeout(() => signalGroup(child, 'SIGKILL'), KILL_AFTER_MS)
  child.once('close', () => {
    clearTimeout(kill)
    signalGroup(child, 'SIGKILL')
  })
}

/** Whether there was anyone to signal. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): boolean {
  if (child.pid === undefined) return false
  try {
    return process.kill(-child.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}
