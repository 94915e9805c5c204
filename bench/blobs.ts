import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startS3Server } from '../dev/engines/s3-server.ts'
import { newBlobName } from '../server/src/platform/blobs/blobs.ts'
import type { Blobs } from '../server/src/platform/blobs/blobs.ts'
import { createBlobs } from '../server/src/platform/blobs/create-blobs.ts'

const MB = 1024 * 1024
const SMALL_BYTES = 4 * 1024
const SMALL_COUNT = 2_000
const AT_ONCE = 16
const LARGE_BYTES = 512 * MB
const LIMITS = { bytesMax: 1024 * MB }

/** Prints how fast blobs go in and out of one kind of store, and how far the memory of this fresh process grows. */
async function main(kind: string | undefined): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-blobs-'))
  try {
    if (kind === 'disk') await measure(createBlobs({ kind: 'disk', root: folder }))
    else if (kind === 's3') await measureS3(folder)
    else throw new Error('Usage: node bench/blobs.ts <disk|s3>')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureS3(folder: string): Promise<void> {
  const server = await startS3Server({ dataDir: folder })
  // The server has a process group of its own and would outlive this process.
  const stopEarly = async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
    process.exit(1)
  }
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stopEarly())
  try {
    await measure(createBlobs({ kind: 's3', pathStyle: true, ...server }))
  } finally {
    await server.stop()
  }
}

async function measure(blobs: Blobs): Promise<void> {
  const names = Array.from({ length: SMALL_COUNT }, () => newBlobName('files'))
  const large = newBlobName('files')
  const each = (what: string, work: (blob: string) => Promise<unknown>) =>
    timed(`${what}, ${AT_ONCE} at once`, async () => await inLanes(names, work), SMALL_COUNT, '/s')
  await timed('put 512 MB', async () => await blobs.put(large, zeros(LARGE_BYTES), LIMITS), LARGE_BYTES / MB, ' MB/s')
  await timed('read 512 MB', async () => await drain(blobs, large), LARGE_BYTES / MB, ' MB/s')
  await timed('read 512 MB again', async () => await drain(blobs, large), LARGE_BYTES / MB, ' MB/s')
  await each('put 4 KB', async (blob) => await blobs.put(blob, zeros(SMALL_BYTES), LIMITS))
  await each('read 4 KB', async (blob) => await drain(blobs, blob))
  await timed('list', async () => await count(blobs), SMALL_COUNT, '/s')
  await each('remove', async (blob) => await blobs.remove(blob))
  await blobs.close()
}

/** CPU is this process alone: it stays comparable when others share the machine, the rate does not. */
async function timed(what: string, work: () => Promise<unknown>, units: number, unit: string): Promise<void> {
  const before = process.memoryUsage.rss()
  let highest = before
  const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 5)
  const startedAt = performance.now()
  const cpuBefore = process.cpuUsage()
  await work()
  const cpu = process.cpuUsage(cpuBefore)
  const seconds = (performance.now() - startedAt) / 1000
  clearInterval(watch)
  const rate = `${(units / seconds).toFixed(0).padStart(6)}${unit.padEnd(6)}`
  const cost = `${((cpu.user + cpu.system) / 1000 / units).toFixed(2)} ms CPU`
  console.log(`${what.padEnd(24)} ${rate} ${cost.padStart(12)}   RSS +${((highest - before) / MB).toFixed(0)} MB`)
}

async function inLanes(names: readonly string[], work: (blob: string) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async () => {
    for (let blob = names[next++]; blob !== undefined; blob = names[next++]) await work(blob)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

async function* zeros(bytes: number): AsyncGenerator<Uint8Array> {
  const block = new Uint8Array(Math.min(bytes, 64 * 1024))
  for (let left = bytes; left > 0; left -= block.length) yield block
}

async function drain(blobs: Blobs, blob: string): Promise<void> {
  for await (const chunk of await blobs.read(blob)) void chunk
}

async function count(blobs: Blobs): Promise<void> {
  for await (const entry of blobs.list('files')) void entry
}

if (import.meta.main) await main(process.argv[2])
