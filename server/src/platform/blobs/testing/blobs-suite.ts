import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { describe, test, type TestContext } from 'node:test'
import { newBlobName, type BlobEntry, type Blobs } from '../blobs.ts'

const MB = 1024 * 1024
const BYTES_MAX = 512 * MB
/** Two parts of the S3 driver, and what the collector has not taken back yet. */
const PUT_GROWTH_MAX = 48 * MB
/** All of it chunks that were read and not yet collected: up to 70 MB were seen, for 64 MB as for 512. */
const READ_GROWTH_MAX = 100 * MB

export type MadeBlobs = {
  blobs: Blobs
  /** How many unfinished puts the store still holds, seen from outside the driver. */
  unfinished: () => Promise<number>
  /** Leaves what a put leaves whose process is killed in the middle. */
  abandon: (name: string) => Promise<void>
}

/** What every blob store promises. `make` gives an empty one that ends with the test. */
export function blobsSuite(name: string, make: (t: TestContext) => Promise<MadeBlobs>): void {
  describe(`blobs on ${name}`, { concurrency: false }, () => {
    test('what is put can be read, with its size and hash', async (t) => {
      const { blobs } = await make(t)
      for (const size of [0, 1, 255 * 1024, 256 * 1024, 256 * 1024 + 1, 8 * MB, 8 * MB + 1, 17 * MB]) {
        const blob = newBlobName('files')
        const bytes = patterned(size)
        const put = await blobs.put(blob, inChunks(bytes, 100_000), { bytesMax: BYTES_MAX })
        assert.deepEqual(put, { bytes: size, sha256: sha256(bytes) }, `${size} bytes`)
        const stored = await buffer(await blobs.read(blob))
        assert.ok(stored.equals(bytes), `${size} bytes come back as they were`)
      }
    })

    test('a range gives exactly its bytes', async (t) => {
      const { blobs } = await make(t)
      const blob = newBlobName('files')
      const bytes = patterned(9 * MB)
      await blobs.put(blob, inChunks(bytes, 64 * 1024), { bytesMax: BYTES_MAX })
      const last = bytes.length - 1
      const ranges: [number, number][] = [
        [0, 0],
        [0, 99],
        [100, 100],
        [8 * MB - 1, 8 * MB],
        [last, last],
        [last - 10, last + 1_000],
        [0, last],
      ]
      for (const [start, end] of ranges) {
        const got = await buffer(await blobs.read(blob, { start, end }))
        assert.ok(got.equals(bytes.subarray(start, end + 1)), `bytes ${start} to ${end}`)
      }
      await assert.rejects(blobs.read(blob, { start: bytes.length, end: bytes.length }), { name: 'BlobRangeInvalid' })
    })

    test('a blob that is not there is missing, and removing it twice does no harm', async (t) => {
      const { blobs } = await make(t)
      const blob = newBlobName('files')
      await assert.rejects(blobs.read(blob), { name: 'BlobMissing', blob })
      await assert.rejects(blobs.read(blob, { start: 0, end: 1 }), { name: 'BlobMissing', blob })
      assert.equal(await blobs.remove(blob), false)
      await blobs.put(blob, inChunks(patterned(10), 10), { bytesMax: 10 })
      assert.equal(await blobs.remove(blob), true)
      assert.equal(await blobs.remove(blob), false)
      await assert.rejects(blobs.read(blob), { name: 'BlobMissing', blob })
    })

    test('a put past its bound is refused, at the last byte or in the middle of many, and leaves nothing', async (t) => {
      const { blobs, unfinished } = await make(t)
      for (const [size, bytesMax] of [
        [11, 10],
        [MB, 10],
        [20 * MB, 19 * MB],
      ] as const) {
        const blob = newBlobName('files')
        await assert.rejects(blobs.put(blob, endless(size), { bytesMax }), { name: 'BlobTooLarge', bytesMax })
        await assert.rejects(blobs.read(blob), { name: 'BlobMissing' })
      }
      assert.deepEqual([await listAll(blobs, 'files'), await unfinished()], [[], 0])
    })

    test('a put stopped by its caller, while bytes flow or while none come, leaves nothing', async (t) => {
      const { blobs, unfinished } = await make(t)
      for (const after of [0, 100_000, 10 * MB, 30 * MB]) {
        for (const stalls of [false, true]) {
          const stop = new AbortController()
          const reason = new Error('the client went away')
          const source = stalls ? stalling(after, () => stop.abort(reason)) : calling(after, () => stop.abort(reason))
          const put = blobs.put(newBlobName('files'), source, { bytesMax: BYTES_MAX, signal: stop.signal })
          await assert.rejects(put, reason)
        }
      }
      const stopped = AbortSignal.abort(new Error('too late'))
      await assert.rejects(blobs.put(newBlobName('files'), endless(10), { bytesMax: 10, signal: stopped }), /too late/)
      assert.deepEqual([await listAll(blobs, 'files'), await unfinished()], [[], 0])
    })

    test('a source that breaks leaves nothing', async (t) => {
      const { blobs, unfinished } = await make(t)
      for (const after of [0, 100_000, 30 * MB]) {
        const put = blobs.put(newBlobName('files'), calling(after, brokenSource), { bytesMax: BYTES_MAX })
        await assert.rejects(put, /connection reset/)
        const stream = Readable.from(calling(after, brokenSource))
        await assert.rejects(blobs.put(newBlobName('files'), stream, { bytesMax: BYTES_MAX }), /connection reset/)
      }
      assert.deepEqual([await listAll(blobs, 'files'), await unfinished()], [[], 0])
    })

    test('many puts and reads at once do not mix', async (t) => {
      const { blobs } = await make(t)
      const sizes = Array.from({ length: 24 }, (_, n) => (n % 8 === 0 ? 9 * MB : 1 + n * 7_919))
      const names = await Promise.all(
        sizes.map(async (size, n) => {
          const blob = newBlobName('files')
          await blobs.put(blob, inChunks(patterned(size, n), 50_000), { bytesMax: BYTES_MAX })
          return blob
        }),
      )
      await Promise.all(
        names.map(async (blob, n) => {
          const got = await buffer(await blobs.read(blob))
          assert.ok(got.equals(patterned(sizes[n]!, n)))
        }),
      )
      assert.deepEqual(
        (await listAll(blobs, 'files')).map((entry) => entry.name),
        names.toSorted(),
      )
    })

    test('a list goes past one page, in order, and keeps to its prefix', async (t) => {
      const { blobs } = await make(t)
      const names: string[] = []
      for (let n = 0; n < 1_100; n += 20) {
        const twenty = Array.from({ length: 20 }, () => newBlobName('files'))
        await Promise.all(twenty.map((blob) => blobs.put(blob, inChunks(patterned(3), 3), { bytesMax: 3 })))
        names.push(...twenty)
      }
      await blobs.put(newBlobName('filesystem'), inChunks(patterned(3), 3), { bytesMax: 3 })
      const found = await listAll(blobs, 'files')
      assert.deepEqual(
        found.map((entry) => entry.name),
        names.toSorted(),
      )
      assert.ok(
        found.every((entry) => entry.bytes === 3 && Math.abs(Date.now() - entry.modifiedAt.getTime()) < 600_000),
      )
      const folder = names[0]!.split('/').slice(0, 2).join('/')
      assert.deepEqual(
        (await listAll(blobs, folder)).map((entry) => entry.name),
        names.filter((blob) => blob.startsWith(`${folder}/`)).toSorted(),
      )
      assert.deepEqual(await listAll(blobs, 'nothing'), [])
    })

    test('a large blob passes through with memory growing by a fraction of it', async (t) => {
      const { blobs } = await make(t)
      const grows = async (what: string, growthMax: number, work: () => Promise<unknown>): Promise<void> => {
        const growth = await watchedGrowth(work)
        t.diagnostic(`${what}: RSS grew by ${(growth / MB).toFixed(1)} MB`)
        assert.ok(growth < growthMax, `${what}: grew by ${(growth / MB).toFixed(1)} MB`)
      }
      const blob = newBlobName('files')
      const put = async (size: number) => await blobs.put(blob, endless(size), { bytesMax: BYTES_MAX })
      await grows('put of 64 MB', PUT_GROWTH_MAX, async () => await put(64 * MB))
      await put(256 * MB)
      await grows('read of 256 MB', READ_GROWTH_MAX, async () => {
        assert.equal(await drain(await blobs.read(blob)), 256 * MB)
      })
    })

    test('what a killed put left behind is never shown, and cleared away once it is old enough', async (t) => {
      const { blobs, unfinished, abandon } = await make(t)
      await abandon(newBlobName('files'))
      assert.deepEqual([await listAll(blobs, 'files'), await unfinished()], [[], 1])
      assert.deepEqual([await blobs.removeUnfinished(3_600_000), await unfinished()], [0, 1])
      assert.deepEqual([await blobs.removeUnfinished(-60_000), await unfinished()], [1, 0])
    })

    test('names that are not blob names are refused before they become a path', async (t) => {
      const { blobs } = await make(t)
      for (const bad of [
        '',
        'x',
        '../../etc/passwd',
        'files/../../x',
        '/etc/passwd',
        `${newBlobName('files')}/x`,
        'files/abc/..',
      ]) {
        await assert.rejects(async () => await blobs.read(bad), { name: 'AssertionFailed' })
        await assert.rejects(async () => await blobs.remove(bad), { name: 'AssertionFailed' })
        await assert.rejects(async () => await blobs.put(bad, endless(1), { bytesMax: 1 }), { name: 'AssertionFailed' })
      }
      for (const bad of ['', '.', '..', '.unfinished', 'files/', '/']) {
        assert.throws(() => blobs.list(bad), { name: 'AssertionFailed' })
      }
    })

    test('a store that works passes its check', async (t) => {
      const { blobs } = await make(t)
      await blobs.check()
    })
  })
}

export async function listAll(blobs: Blobs, prefix: string): Promise<BlobEntry[]> {
  const entries: BlobEntry[] = []
  for await (const entry of blobs.list(prefix)) entries.push(entry)
  return entries
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Bytes that differ at every place and for every seed, so that a swapped or shifted block shows. */
function patterned(size: number, seed = 0): Buffer {
  const words = new Uint32Array(Math.ceil(size / 4))
  for (let n = 0; n < words.length; n += 1) words[n] = Math.imul(n + 1, 2_654_435_761) ^ seed
  return Buffer.from(words.buffer, 0, size)
}

async function* inChunks(bytes: Uint8Array, chunkBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
}

/** That many zeros, without ever holding them. */
async function* endless(size: number, chunkBytes = 64 * 1024): AsyncGenerator<Uint8Array> {
  const zeros = new Uint8Array(chunkBytes)
  for (let left = size; left > 0; left -= chunkBytes) yield zeros.subarray(0, Math.min(left, chunkBytes))
}

/** Gives so many bytes, calls, and goes on for a while. */
async function* calling(size: number, call: () => void): AsyncGenerator<Uint8Array> {
  yield* endless(size)
  call()
  yield* endless(40 * MB)
}

/** Gives so many bytes, calls, and then gives nothing more for ever. */
async function* stalling(size: number, call: () => void): AsyncGenerator<Uint8Array> {
  yield* endless(size)
  call()
  await new Promise(() => undefined)
}

function brokenSource(): void {
  throw new Error('connection reset')
}

async function drain(stream: Readable): Promise<number> {
  let bytes = 0
  for await (const chunk of stream) bytes += (chunk as Uint8Array).byteLength
  return bytes
}

/** How far the process grew beyond where it was, at its highest. */
async function watchedGrowth(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss()
  let highest = before
  const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 5)
  try {
    await work()
  } finally {
    clearInterval(watch)
  }
  return Math.max(highest, process.memoryUsage.rss()) - before
}
