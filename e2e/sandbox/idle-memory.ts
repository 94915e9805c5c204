import { readFileSync } from 'node:fs'
import { listDockerProcesses } from '../../dev/engines/docker-remains.ts'
import { boxesOf } from './boxes-on-disk.ts'
import type { SandboxFleet } from './sandbox-fleet.ts'

export interface IdleMemory {
  readonly boxes: number
  /** Of shims, sandboxes and the processes in them, each page as often as it is mapped, and once. */
  readonly rssMiB: number
  readonly pssMiB: number
  /** What the control groups of the containers are charged. */
  readonly cgroupMiB: number
}

const kibPerMib = 1_024
const engines = /^(dockerd|containerd)$/

/** What one idle container costs, on average over those that are there now. */
export function measureIdle(fleet: SandboxFleet): IdleMemory {
  const all = fleet.hosts.flatMap(({ dir }) => boxesOf(dir)).filter(({ engineId }) => engineId !== '')
  const pids = listDockerProcesses(fleet.docker.folders).filter(
    (pid) => !engines.test(read(`/proc/${pid}/comm`).trim()),
  )
  const sum = (field: string) =>
    pids.reduce((total, pid) => total + kibOf(read(`/proc/${pid}/smaps_rollup`), field), 0) / kibPerMib
  const charged = all.reduce((total, { engineId }) => total + cgroupBytes(engineId), 0) / kibPerMib ** 2
  const each = (total: number) => total / Math.max(1, all.length)
  return { boxes: all.length, rssMiB: each(sum('Rss')), pssMiB: each(sum('Pss')), cgroupMiB: each(charged) }
}

const kibOf = (text: string, field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)

function cgroupBytes(engineId: string): number {
  const places = [
    `/sys/fs/cgroup/memory/docker/${engineId}/memory.usage_in_bytes`,
    `/sys/fs/cgroup/docker/${engineId}/memory.current`,
  ]
  return Number(places.map(read).find((text) => text !== '') ?? 0)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
