import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second whatever the kernel's own tick is. */
const ticksPerSecond = 100
// Fields 14 and 15 of /proc/<pid>/stat, counted from the state, which follows the name in brackets.
const userField = 11
const systemField = 12

/** Seconds of processor time that a process has used so far, all its threads together; NaN where there is no /proc. */
export function cpuSeconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[userField]) + Number(fields[systemField])) / ticksPerSecond
  } catch {
    return Number.NaN
  }
}
