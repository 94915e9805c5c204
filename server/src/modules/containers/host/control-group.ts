import { readFile } from 'node:fs/promises'

/** Where the engine may have put a container's control group: either version of them, either driver. */
const places = [
  { folder: (id: string) => `/sys/fs/cgroup/memory/docker/${id}`, kills: 'memory.oom_control' },
  { folder: (id: string) => `/sys/fs/cgroup/memory/system.slice/docker-${id}.scope`, kills: 'memory.oom_control' },
  { folder: (id: string) => `/sys/fs/cgroup/docker/${id}`, kills: 'memory.events' },
  { folder: (id: string) => `/sys/fs/cgroup/system.slice/docker-${id}.scope`, kills: 'memory.events' },
] as const

/**
 * How often the kernel has killed something of a container for want of memory. The engine tells of it too, but a moment
 * late, when another command may be running. Null where it cannot be read.
 */
export async function countMemoryKills(engineId: string): Promise<number | null> {
  for (const { folder, kills } of places) {
    const text = await readFile(`${folder(engineId)}/${kills}`, 'utf8').catch(() => null)
    if (text !== null) return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0)
  }
  return null
}

/**
 * Ends what an engine that was killed in the middle of a start has forgotten: it removes the container that it believes was
 * never started, and its processes would hold the disk for ever.
 */
export async function endForgotten(engineId: string): Promise<void> {
  for (const { folder } of places) {
    const text = await readFile(`${folder(engineId)}/cgroup.procs`, 'utf8').catch(() => '')
    for (const pid of text.split('\n').map(Number)) {
      // No id, or that of a process outside of our own namespace.
      if (!Number.isInteger(pid) || pid <= 1) continue
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has just ended.
      }
    }
  }
}
