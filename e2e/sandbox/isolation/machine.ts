import { readdirSync, readFileSync, readlinkSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import type { SandboxApp } from '../../../server/src/modules/containers/testing/sandbox-app.ts'
import { createEngineApi } from '../../../server/src/platform/docker/engine-api.ts'

/** What a host has in use, to be compared before and after. */
export interface MachineUse {
  /** Mounts and loop devices that belong to this host's folder. */
  readonly mounts: number
  readonly loops: number
  readonly descriptors: number
  readonly watches: number
  /** Processes inside machines of this host: their control groups are named after the machines. */
  readonly processes: number
  readonly machines: number
  readonly memoryFreeMb: number
  readonly diskFreeMb: number
  /** Resident memory of this process, which is the host. */
  readonly hostMb: number
}

const mb = 1024 * 1024

export async function useOf({ dir, socket }: SandboxApp): Promise<MachineUse> {
  const disk = statfsSync(dir)
  const hostId = readFileSync(`${dir}/host-id`, 'utf8').trim()
  const machines = await createEngineApi(socket).list(`switchyard.host=${hostId}`)
  return {
    machines: machines.length,
    mounts: readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(` ${dir}/`)).length,
    loops: loopsOf(dir),
    descriptors: readdirSync('/proc/self/fd').length,
    watches: inotifyWatches(),
    processes: processesOf(machines.map(({ id }) => id)),
    memoryFreeMb: Math.round(freemem() / mb),
    diskFreeMb: Math.round((disk.bavail * disk.bsize) / mb),
    hostMb: Math.round(process.memoryUsage.rss() / mb),
  }
}

function processesOf(machines: readonly string[]): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const groups = readFileSync(`/proc/${name}/cgroup`, 'utf8')
      return machines.some((id) => groups.includes(id))
    } catch {
      return false
    }
  }).length
}

function loopsOf(dir: string): number {
  return readdirSync('/sys/block').filter((name) => {
    if (!name.startsWith('loop')) return false
    try {
      return readFileSync(`/sys/block/${name}/loop/backing_file`, 'utf8').startsWith(`${dir}/`)
    } catch {
      return false
    }
  }).length
}

function inotifyWatches(): number {
  let watches = 0
  for (const fd of readdirSync('/proc/self/fd')) {
    try {
      if (readlinkSync(`/proc/self/fd/${fd}`) !== 'anon_inode:inotify') continue
      watches += readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('inotify ')).length
    } catch {
      // Closed meanwhile.
    }
  }
  return watches
}
