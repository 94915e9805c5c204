import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second whatever the kernel's own tick is. */
const ticksPerSecond = 100
// Fields 4 and 14 to 17 of /proc/<pid>/stat, counted from the state, which follows the name in brackets.
const parentField = 1
const userField = 11
const systemField = 12
const endedUserField = 13
const endedSystemField = 14

function statOf(pid: number | string): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
}

/** Seconds of processor time that a process has used so far, all its threads together; NaN where there is no /proc. */
export function cpuSeconds(pid: number): number {
  try {
    const fields = statOf(pid)
    return ((fields[userField] ?? 0) + (fields[systemField] ?? 0)) / ticksPerSecond
  } catch {
    return Number.NaN
  }
}

/** The same with its children, those that have ended included: a server that has a process for every connection. */
export function familyCpuSeconds(pid: number): number {
  const own = cpuSeconds(pid)
  if (Number.isNaN(own)) return own
  const ended = statOf(pid)
  const before = ((ended[endedUserField] ?? 0) + (ended[endedSystemField] ?? 0)) / ticksPerSecond
  return childrenOf(pid).reduce((sum, child) => sum + (cpuSeconds(child) || 0), own + before)
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return statOf(name)[parentField] === pid ? [Number(name)] : []
      } catch {
        // It has ended since.
        return []
      }
    })
}
