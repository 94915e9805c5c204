import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { endProcess, signalProcess } from '../processes.ts'
import { becomesTrue } from './wait-until.ts'

const GENTLE_BOUND_MS = 20_000
const END_BOUND_MS = 15_000
const UNMOUNT_BOUND_MS = 15_000
const UNMOUNT_ROUNDS_MAX = 3
const ENGINE_PROGRAMS = /^(dockerd|containerd|containerd-shim.*|docker-proxy|runc|runsc.*)$/

/** The two folders that tell the processes and mounts of one engine from those of any other on the machine. */
export interface DockerFolders {
  dataRoot: string
  runDir: string
}

interface Process {
  pid: number
  parent: number
}

/** Ends everything that an engine left running: itself, containerd, shims, and the processes of containers. */
export async function endDockerProcesses(folders: DockerFolders): Promise<void> {
  // In order and when asked, both close their books; what remains then has none.
  for (const name of ['dockerd', 'containerd']) {
    const pids = listDockerProcesses(folders).filter((pid) => basename(commandLine(pid)[0] ?? '') === name)
    for (const pid of pids) await endProcess(pid, 'SIGTERM', GENTLE_BOUND_MS)
  }
  const gone = await becomesTrue(() => {
    const pids = listDockerProcesses(folders)
    for (const pid of pids) signalProcess(pid, 'SIGKILL')
    return pids.length === 0
  }, END_BOUND_MS)
  if (!gone) throw new Error(`processes survived SIGKILL: ${listDockerProcesses(folders).join(', ')}`)
}

/** The processes of one engine and, however deep, those that they started. */
export function listDockerProcesses(folders: DockerFolders): number[] {
  const processes = listProcesses()
  const found = new Set(processes.filter(({ pid }) => belongs(pid, folders)).map(({ pid }) => pid))
  // A child may stand before its parent, so the list is read again until nothing is added.
  for (let before = -1; before !== found.size;) {
    before = found.size
    for (const { pid, parent } of processes) if (found.has(parent)) found.add(pid)
  }
  found.delete(process.pid)
  return [...found]
}

export function listMounts({ dataRoot, runDir }: DockerFolders): string[] {
  const points = readFileSync('/proc/self/mounts', 'utf8').split('\n').map(mountPoint)
  return points.filter((point) => [dataRoot, runDir].some((folder) => isInside(point, folder)))
}

/** Unmounts what is left under the engine's folders, so that they can be removed. */
export function unmountRemains(folders: DockerFolders): void {
  for (let round = 0; round < UNMOUNT_ROUNDS_MAX && listMounts(folders).length > 0; round += 1) {
    // The last mount first: it may lie on an earlier one.
    for (const point of listMounts(folders).toReversed()) {
      execFileSync('umount', ['--lazy', point], { timeout: UNMOUNT_BOUND_MS, stdio: 'ignore' })
    }
  }
}

function listProcesses(): Process[] {
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return names.flatMap((name) => {
    const stat = readProc(`/proc/${name}/stat`)
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === undefined || parent === undefined || state === 'Z'
      ? []
      : [{ pid: Number(name), parent: Number(parent) }]
  })
}

// A container's process whose shim has died is known only by its root, a layer in the engine's data.
function belongs(pid: number, { dataRoot, runDir }: DockerFolders): boolean {
  const [program = '', ...args] = commandLine(pid)
  if (ENGINE_PROGRAMS.test(basename(program))) return args.some((arg) => arg.includes(`${runDir}/`))
  const root = readProc(`/proc/${pid}/mounts`)
    .split('\n')
    .find((line) => mountPoint(line) === '/')
  return root?.includes(`upperdir=${dataRoot}/`) ?? false
}

function commandLine(pid: number): string[] {
  return readProc(`/proc/${pid}/cmdline`).split('\0')
}

function mountPoint(line: string): string {
  const escaped = line.split(' ')[1] ?? ''
  return escaped.replaceAll(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
