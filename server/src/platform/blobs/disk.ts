import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, unlink, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import {
  assertBlobName,
  assertBlobPrefix,
  assertBlobRange,
  BlobMissing,
  BlobRangeInvalid,
  isBlobName,
  isBlobPrefix,
  type BlobEntry,
  type BlobRange,
  type Blobs,
} from './blobs.ts'
import { createIntake, putFailure } from './intake.ts'

export type DiskOptions = { root: string }

const BLOCK_BYTES = 256 * 1024
const READ_BYTES = 64 * 1024
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
/** No prefix starts with a dot, so nothing in here is ever listed or read. */
const UNFINISHED = '.unfinished'

/** Blobs as files. A put writes aside, reaches the disk, and only then gets its name. */
export function createDiskBlobs({ root }: DiskOptions): Blobs {
  const unfinished = join(root, UNFINISHED)
  const pathOf = (name: string): string => {
    assertBlobName(name)
    return join(root, name)
  }

  return {
    async put(name, source, limits) {
      const path = pathOf(name)
      const intake = createIntake(source, limits)
      const aside = join(unfinished, randomUUID())
      await mkdir(unfinished, { recursive: true, mode: FOLDER_MODE })
      try {
        const block = Buffer.allocUnsafe(BLOCK_BYTES)
        await writeFile(
          aside,
          intake.blocks(() => block),
        )
        await settle(aside, path)
      } catch (error) {
        await rm(aside, { force: true })
        throw putFailure(error, limits.signal)
      }
      return intake.result()
    },

    async read(name, range) {
      const path = pathOf(name)
      assertBlobRange(range)
      try {
        return await openStream(await open(path, 'r'), range)
      } catch (error) {
        throw isMissing(error) ? new BlobMissing(name, { cause: error }) : error
      }
    },

    async remove(name) {
      try {
        await unlink(pathOf(name))
        return true
      } catch (error) {
        if (isMissing(error)) return false
        throw error
      }
    },

    list(prefix) {
      assertBlobPrefix(prefix)
      return walk(root, prefix)
    },

    async removeUnfinished(olderThanMs) {
      const before = Date.now() - olderThanMs
      let removed = 0
      for (const file of await namesIn(unfinished)) {
        const path = join(unfinished, file)
        const found = await statOf(path)
        if (found === null || found.mtimeMs > before) continue
        await rm(path, { force: true })
        removed += 1
      }
      return removed
    },

    async check() {
      await mkdir(unfinished, { recursive: true, mode: FOLDER_MODE })
      const probe = join(unfinished, randomUUID())
      await (await open(probe, 'wx')).close()
      await unlink(probe)
    },

    close: () => Promise.resolve(),
  }
}

async function writeFile(path: string, blocks: AsyncIterable<Buffer>): Promise<void> {
  const file = await open(path, 'wx', FILE_MODE)
  try {
    for await (const block of blocks) await writeAll(file, block)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function writeAll(file: FileHandle, block: Buffer): Promise<void> {
  for (let at = 0; at < block.length;) at += (await file.write(block, at)).bytesWritten
}

/** Gives a finished file its name, in a way that survives a power cut: the folder reaches the disk too. */
async function settle(aside: string, path: string): Promise<void> {
  const folder = dirname(path)
  const made = await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
  await rename(aside, path)
  await syncFolder(folder)
  // A new folder is itself an entry in the one above it, up to the first that was there before.
  for (let at = folder; made !== undefined && at.length >= made.length; at = dirname(at)) await syncFolder(dirname(at))
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function openStream(file: FileHandle, range: BlobRange | undefined): Promise<Readable> {
  try {
    const { size } = await file.stat()
    if (range !== undefined && range.start >= size) throw new BlobRangeInvalid('The range starts past the last byte.')
    return file.createReadStream({ ...range, highWaterMark: READ_BYTES })
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Folders are read one at a time and sorted; names have one shape, so this is the order of whole names too. */
async function* walk(root: string, prefix: string): AsyncGenerator<BlobEntry, void, undefined> {
  const inside = async (): Promise<string[]> =>
    (await namesIn(join(root, prefix))).map((folder) => `${prefix}/${folder}`)
  const folders = prefix.includes('/') ? [prefix] : (await inside()).filter(isBlobPrefix)
  for (const folder of folders) {
    for (const file of await namesIn(join(root, folder))) {
      const name = `${folder}/${file}`
      const found = await statOf(join(root, name))
      if (found !== null && isBlobName(name)) yield { name, bytes: found.size, modifiedAt: found.mtime }
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function statOf(path: string) {
  try {
    return await stat(path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
