/** What a container costs that has run a command and now waits for the next, many at once. Memory, so nothing is timed. */
import type Docker from 'dockerode'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { median, type Figure } from './figure.ts'
import { withHost, withSandboxEngines, type Runtime, type SandboxBench } from './sandbox-stack.ts'

export interface SandboxIdleSize {
  readonly containers: number
}

const mebibyte = 1024 ** 2
const promisedMib = 1_024
/** Those of the runtime before count too: their host went without a word. */
const activeMax = 100_000
/** Made and used two at a time, as many as the machine has cores. */
const atOnce = 2
const calmMs = 3_000
const reads = 5
const readPauseMs = 200

/** MiB of one container: of the whole machine, and of the container's own control group. */
interface Cost {
  readonly machine: number
  readonly group: number
}

export async function benchSandboxIdle(size: SandboxIdleSize, say: (line: string) => void): Promise<Figure[]> {
  return await withSandboxEngines(async (bench) => {
    const costs = {
      runc: await costOf(bench, 'runc', size, say),
      runsc: await costOf(bench, 'runsc', size, say),
    }
    const figure = (name: string, kind: keyof Cost): Figure => ({
      name: `sandbox-idle ${name} of a container, runsc to runc`,
      ratio: costs.runsc[kind] / costs.runc[kind],
      target: null,
      measured: `${costs.runsc[kind].toFixed(1)} : ${costs.runc[kind].toFixed(1)} MiB, ${size.containers} at once`,
    })
    return [figure('memory of the machine', 'machine'), figure('memory of the control group', 'group')]
  })
}

async function costOf(
  bench: SandboxBench,
  runtime: Runtime,
  { containers }: SandboxIdleSize,
  say: (line: string) => void,
): Promise<Cost> {
  const settings = {
    SWITCHYARD_SANDBOX_MEMORY_MB: String(promisedMib * (containers + 1)),
    SWITCHYARD_CONTAINERS_ACTIVE_MAX: String(activeMax),
  }
  return await withHost(bench, { runtime, pool: 0, settings }, async (host) => {
    const before = await availableBytes()
    const useOne = async () => host.exec(await host.place(), 'echo hi')
    for (let made = 0; made < containers; made += atOnce) {
      await Promise.all(Array.from({ length: Math.min(atOnce, containers - made) }, useOne))
    }
    await host.settle(containers)
    await wait(calmMs)
    const machine = (before - (await availableBytes())) / containers / mebibyte
    const groups = await groupBytes(bench.docker, host.folder)
    const group = groups.reduce((sum, bytes) => sum + bytes, 0) / groups.length / mebibyte
    say(`sandbox-idle ${runtime}: ${machine.toFixed(1)} MiB of the machine, ${group.toFixed(1)} MiB of the group`)
    return { machine, group }
  })
}

/** The middle of a few looks, for others use the machine too. */
async function availableBytes(): Promise<number> {
  const seen: number[] = []
  for (let count = 0; count < reads; count += 1) {
    const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]
    seen.push(Number(kib) * 1024)
    await wait(readPauseMs)
  }
  return median(seen)
}

/** Of every container of a host, without files that the kernel would give up first. */
async function groupBytes(docker: Docker, folder: string): Promise<number[]> {
  const hostId = readFileSync(`${folder}/host-id`, 'utf8').trim()
  const found = await docker.listContainers({ filters: { label: [`switchyard.host=${hostId}`] } })
  const pids = await Promise.all(found.map(async ({ Id }) => (await docker.getContainer(Id).inspect()).State.Pid))
  return pids.map(groupOf)
}

/** Control groups of both versions: the first has a tree for memory alone. */
function groupOf(pid: number): number {
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n')
  const first = lines.map((line) => /^\d+:memory:(.*)$/.exec(line)?.[1]).find((path) => path !== undefined)
  const second = lines.map((line) => /^0::(.*)$/.exec(line)?.[1]).find((path) => path !== undefined)
  const folder = first === undefined ? `/sys/fs/cgroup${second}` : `/sys/fs/cgroup/memory${first}`
  const used = Number(readFileSync(`${folder}/memory.${first === undefined ? 'current' : 'usage_in_bytes'}`, 'utf8'))
  const key = first === undefined ? 'inactive_file' : 'total_inactive_file'
  const files = new RegExp(`^${key} (\\d+)$`, 'm').exec(readFileSync(`${folder}/memory.stat`, 'utf8'))?.[1]
  return used - Number(files ?? 0)
}
