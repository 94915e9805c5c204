import { readFile } from 'node:fs/promises'

/** Where the engine may have put a container's control group: either version of them, either driver. */
const places = [
  (id: string) => `/sys/fs/cgroup/memory/docker/${id}/memory.oom_control`,
  (id: string) => `/sys/fs/cgroup/memory/system.slice/docker-${id}.scope/memory.oom_control`,
  (id: string) => `/sys/fs/cgroup/docker/${id}/memory.events`,
  (id: string) => `/sys/fs/cgroup/system.slice/docker-${id}.scope/memory.events`,
]
let found = 0

/**
 * How often the kernel has killed something of a container for want of memory. The engine tells of it too, but a moment
 * late, when another command may be running. Null where it cannot be read.
 */
export async function countMemoryKills(engineId: string): Promise<number | null> {
  for (let at = 0; at < places.length; at += 1) {
    const index = (found + at) % places.length
    const text = await readFile(places[index]?.(engineId) ?? '', 'utf8').catch(() => null)
    if (text === null) continue
    found = index
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0)
  }
  return null
}
