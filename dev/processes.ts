import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { becomesTrue } from './engines/wait-until.ts'

const TERM_BOUND_MS = 10_000
const KILL_BOUND_MS = 5_000
const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id'
// The 22nd field of /proc/<pid>/stat, counted from the state, which follows the name in brackets.
const BEGAN_FIELD = 19

/** What is written down about a child, so that a later start can end it if its owner died first. */
interface ProcessRecord {
  pid: number
  identity: string
  ownerPid: number
  ownerIdentity: string
}

export function recordProcess(pidFile: string, pid: number): void {
  const record: ProcessRecord = {
    pid,
    identity: identify(pid),
    ownerPid: process.pid,
    ownerIdentity: identify(process.pid),
  }
  writeFileSync(pidFile, `${JSON.stringify(record)}\n`, { mode: 0o600 })
}

export function forgetProcess(pidFile: string): void {
  rmSync(pidFile, { force: true })
}

/** Whether the recorded process still runs; null when nothing is recorded. */
export function recordedProcessLives(pidFile: string): boolean | null {
  const record = readRecord(pidFile)
  return record === null ? null : isSameProcess(record.pid, record.identity)
}

/**
 * Ends the process that an earlier owner recorded and did not live to end; returns its pid, or null when there was
 * none. A process whose owner is still there is in use, and is refused instead.
 */
export async function reapStaleProcess(pidFile: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  const record = readRecord(pidFile)
  if (record === null) return null
  const lives = isSameProcess(record.pid, record.identity)
  if (lives && isSameProcess(record.ownerPid, record.ownerIdentity)) {
    throw new Error(`${pidFile} is in use: process ${record.pid} belongs to process ${record.ownerPid}, which runs`)
  }
  if (lives) await endProcess(record.pid, signal, TERM_BOUND_MS)
  forgetProcess(pidFile)
  return lives ? record.pid : null
}

/** Asks a process to end, and kills it with its group when it has not done so within the bound. */
export async function endProcess(pid: number, signal: NodeJS.Signals, boundMs: number): Promise<void> {
  signalProcess(pid, signal)
  // A frozen process would get the signal only when continued.
  signalProcess(pid, 'SIGCONT')
  if (await becomesTrue(() => !isAlive(pid), boundMs)) return
  signalProcess(-pid, 'SIGKILL')
  signalProcess(pid, 'SIGKILL')
  if (!(await becomesTrue(() => !isAlive(pid), KILL_BOUND_MS))) throw new Error(`process ${pid} survived SIGKILL`)
}

/** Sends a signal (to a group when the pid is negative); a process that is already gone is fine. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

// A zombie still answers signal 0 until its parent collects it, but holds no port, file or memory any more.
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return false
  }
}

function isSameProcess(pid: number, identity: string): boolean {
  return isAlive(pid) && identity !== '' && identify(pid) === identity
}

/** Tells this process from any other that had or will have the same pid: when it began, and in which boot. */
function identify(pid: number): string {
  try {
    if (!existsSync(BOOT_ID_FILE)) return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const beganTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[BEGAN_FIELD]
    return `${readFileSync(BOOT_ID_FILE, 'utf8').trim()}:${beganTicks}`
  } catch {
    return ''
  }
}

/** Processes working inside a folder; empty where the system has no /proc. */
export function listProcessesIn(folder: string): number[] {
  if (!existsSync('/proc/self/cwd')) return []
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => workingFolder(pid) === folder && isAlive(pid))
}

function workingFolder(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return null
  }
}

function readRecord(pidFile: string): ProcessRecord | null {
  try {
    const record = JSON.parse(readFileSync(pidFile, 'utf8')) as ProcessRecord
    return Number.isInteger(record.pid) && record.pid > 1 ? record : null
  } catch {
    return null
  }
}
