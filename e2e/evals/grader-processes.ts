import { readdirSync, readFileSync } from 'node:fs'

/** Empty for a process that has ended since. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const commandOf = (pid: number) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()

function parentsOfAll(): Map<number, number> {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return new Map(pids.map((pid) => [pid, Number(/^PPid:\s+(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0)]))
}

/** Processes on this machine that run Python below a container of the engine in this folder. */
export function graderProcesses(engineFolder: string): string[] {
  const parents = parentsOfAll()
  const shims = [...parents.keys()].filter((pid) => {
    const command = commandOf(pid)
    return command.includes('containerd-shim') && command.includes(engineFolder)
  })
  const found: string[] = []
  for (let above = new Set(shims); above.size > 0;) {
    const below = [...parents].filter(([, parent]) => above.has(parent)).map(([pid]) => pid)
    found.push(...below.map(commandOf).filter((command) => command.includes('python')))
    above = new Set(below)
  }
  return found
}
