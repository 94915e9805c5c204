import Docker from 'dockerode'
import { open, readdir, readFile } from 'node:fs/promises'
import type { BoxOnDisk } from '../boxes-on-disk.ts'
import type { Store } from './search.ts'

const pageBytes = 4_096
const entryBytes = 8
const entriesAtOnce = 8_192
/** Present in memory, or in swap. */
const presentBits = 0b1100_0000
const readBytesMax = 4 * 1024 * 1024

/** Every process of a container, seen from the machine: memory that it can write, environment, arguments. */
export async function lookAtProcesses(memory: Store, environment: Store, engineId: string): Promise<number> {
  const pids = await processesOf(engineId)
  for (const pid of pids) {
    for (const name of ['environ', 'cmdline']) await environment.lookFile(`/proc/${pid}/${name}`)
    await lookAtMemory(memory, pid).catch(ignoreGone)
  }
  return pids.length
}

async function processesOf(engineId: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const groups = await readFile(`/proc/${name}/cgroup`, 'utf8').catch(() => '')
    if (groups.includes(engineId)) found.push(Number(name))
  }
  return found
}

export async function lookAtMemory(store: Store, pid: number): Promise<void> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8')
  await using memory = await open(`/proc/${pid}/mem`, 'r')
  await using pages = await open(`/proc/${pid}/pagemap`, 'r')
  for (const line of maps.split('\n')) {
    const [, from = '', to = '', mode = ''] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/.exec(line) ?? []
    if (!mode.startsWith('rw') || line.endsWith('[vvar]')) continue
    for (const run of await presentRuns(pages, Number.parseInt(from, 16), Number.parseInt(to, 16))) {
      for (let at = run.from; at < run.to; at += readBytesMax) {
        const buffer = Buffer.alloc(Math.min(readBytesMax, run.to - at))
        const { bytesRead } = await memory.read(buffer, 0, buffer.length, at).catch(() => ({ bytesRead: 0 }))
        store.look(buffer.subarray(0, bytesRead), `memory of process ${pid}`)
      }
    }
  }
}

type Pages = Awaited<ReturnType<typeof open>>

/** Pages that are really there: to read the others would make them. */
async function presentRuns(pages: Pages, from: number, to: number): Promise<{ from: number; to: number }[]> {
  const runs: { from: number; to: number }[] = []
  const entries = Buffer.alloc(entriesAtOnce * entryBytes)
  for (let at = from; at < to; at += entriesAtOnce * pageBytes) {
    const count = Math.min(entriesAtOnce, (to - at) / pageBytes)
    const { bytesRead } = await pages.read(entries, 0, count * entryBytes, (at / pageBytes) * entryBytes)
    for (let entry = 0; entry < bytesRead / entryBytes; entry += 1) {
      if (((entries[entry * entryBytes + entryBytes - 1] ?? 0) & presentBits) === 0) continue
      const page = at + entry * pageBytes
      const last = runs.at(-1)
      if (last?.to === page) last.to += pageBytes
      else runs.push({ from: page, to: page + pageBytes })
    }
  }
  return runs
}

/** Beside the folders that its host gives it. */
const inside = ['tmp', 'dev/shm', 'var/tmp', 'etc']

/** What its host keeps for it, and all that it can write inside. */
export async function lookAtFiles(store: Store, box: BoxOnDisk): Promise<void> {
  await store.lookFolder(box.root)
  const [pid] = await processesOf(box.engineId)
  if (pid !== undefined) for (const folder of inside) await store.lookFolder(`/proc/${pid}/root/${folder}`)
}

/** The whole root file system, as the engine exports it. */
export async function lookAtExport(store: Store, socket: string, engineId: string): Promise<void> {
  const stream = await new Docker({ socketPath: socket }).getContainer(engineId).export()
  let kept: Buffer = Buffer.alloc(0)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    store.look(Buffer.concat([kept, chunk]), `export of ${engineId}`)
    store.bytes -= kept.length
    kept = chunk.subarray(-256)
  }
}

/** Of a process that ended while it was looked at. */
export function ignoreGone(error: unknown): void {
  if (!['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
}
