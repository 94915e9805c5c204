import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { endProcess, forgetProcess, isAlive, reapStaleProcess, recordProcess, signalProcess } from '../processes.ts'
import { becomesTrue } from './wait-until.ts'

const STOP_BOUND_MS = 10_000
const KILL_BOUND_MS = 5_000
const LOG_TAIL_BYTES_MAX = 2_000

export interface ProcessOptions {
  /** Used in messages: "postgres", "worker 2". */
  name: string
  logFile: string
  /** Where the pid is kept while the process lives, so that the next start can end one whose parent died. */
  pidFile: string
  env?: NodeJS.ProcessEnv
  cwd?: string
  uid?: number
  gid?: number
  stopSignal?: NodeJS.Signals
  stopBoundMs?: number
  /** Told in plain words what happens: starting, ready, stopped. */
  onProgress?: (line: string) => void
  /** Called when the process ends without having been asked to. */
  onUnexpectedExit?: (reason: string) => void
}

/**
 * A child process that this process owns: it has a group of its own, so that Ctrl-C in a terminal reaches only the
 * owner, who then ends its children in the order it wants.
 */
export class SupervisedProcess {
  readonly #command: string
  readonly #args: readonly string[]
  readonly #options: ProcessOptions
  #child: ChildProcess | null = null
  #exit: { reason: string } | null = null
  #asked = false

  constructor(command: string, args: readonly string[], options: ProcessOptions) {
    this.#command = command
    this.#args = args
    this.#options = options
  }

  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error(`${this.#options.name} is not running`)
    return pid
  }

  get running(): boolean {
    return this.#child !== null && this.#exit === null
  }

  async start(): Promise<void> {
    if (this.running) throw new Error(`${this.#options.name} is already running`)
    const { name, logFile, pidFile, onProgress } = this.#options
    const stale = await reapStaleProcess(pidFile, this.#options.stopSignal)
    if (stale !== null) onProgress?.(`${name}: ended process ${stale}, left by an earlier run`)
    const log = openSync(logFile, 'a', 0o600)
    try {
      await this.#spawn(log)
    } finally {
      closeSync(log)
    }
    recordProcess(pidFile, this.pid)
    onProgress?.(`${name}: started, pid ${this.pid}`)
  }

  async #spawn(log: number): Promise<void> {
    const { env, cwd, uid, gid } = this.#options
    const child = spawn(this.#command, this.#args, {
      detached: true,
      stdio: ['ignore', log, log],
      ...(env && { env }),
      ...(cwd !== undefined && { cwd }),
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
    })
    this.#child = child
    this.#exit = null
    this.#asked = false
    child.once('exit', (code, signal) => this.#ended(signal === null ? `exit code ${code}` : `signal ${signal}`))
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) => {
        this.#exit = { reason: error.message }
        reject(new Error(`${this.#options.name} could not be started: ${this.#command}`, { cause: error }))
      })
    })
  }

  #ended(reason: string): void {
    this.#exit = { reason }
    forgetProcess(this.#options.pidFile)
    this.#options.onProgress?.(`${this.#options.name}: ended (${reason})`)
    if (!this.#asked) this.#options.onUnexpectedExit?.(reason)
  }

  /** Waits until the probe answers true. Fails with the end of the log when the process ends or the bound passes. */
  async waitReady(probe: () => boolean | Promise<boolean>, boundMs: number): Promise<void> {
    const begun = performance.now()
    const ready = await becomesTrue(async () => !this.running || (await answers(probe)), boundMs)
    if (!this.running) throw this.#failure(`ended before it was ready (${this.#exit?.reason ?? 'not started'})`)
    if (!ready) throw this.#failure(`was not ready within ${boundMs} ms`)
    this.#options.onProgress?.(`${this.#options.name}: ready after ${Math.round(performance.now() - begun)} ms`)
  }

  /** Asks it to end; kills it when it has not ended within the bound. */
  async stop(): Promise<void> {
    if (!this.running) return
    this.#asked = true
    const { stopSignal = 'SIGTERM', stopBoundMs = STOP_BOUND_MS } = this.#options
    await endProcess(this.pid, stopSignal, stopBoundMs)
    await this.#collected()
  }

  /** Ends it at once, as a crash would. */
  async kill9(): Promise<void> {
    if (!this.running) return
    this.#asked = true
    signalProcess(this.pid, 'SIGKILL')
    await this.#collected()
  }

  /** Lets it outlive this process, which no longer waits for it nor reports its end. */
  release(): void {
    this.#asked = true
    this.#child?.unref()
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  async #collected(): Promise<void> {
    if (await becomesTrue(() => !this.running, KILL_BOUND_MS)) return
    throw new Error(`${this.#options.name}: process ${this.pid} is ${isAlive(this.pid) ? 'still running' : 'lost'}`)
  }

  #failure(what: string): Error {
    const { name, logFile } = this.#options
    return new Error(`${name} ${what}. The end of ${logFile}:\n${logTail(logFile)}`)
  }
}

/** Starts a supervised process. */
export async function startProcess(
  command: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<SupervisedProcess> {
  const supervised = new SupervisedProcess(command, args, options)
  await supervised.start()
  return supervised
}

// A probe usually fails by refusing the connection; that only means "not yet".
async function answers(probe: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await probe()
  } catch {
    return false
  }
}

function logTail(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8').slice(-LOG_TAIL_BYTES_MAX).trim()
  } catch {
    return '(no log)'
  }
}
