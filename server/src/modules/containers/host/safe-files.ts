import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, opendir, rename, unlink, type FileHandle } from 'node:fs/promises'

/** Of a file that is being uploaded. */
const draftPrefix = '.switchyard-incoming-'
/** More entries than this are not walked: a listing stays bounded whatever was written. */
const entriesMax = 50_000
const depthMax = 32
/** All paths of a listing together: names can be long, and folders deep. */
const pathCharsMax = 16 * 1024 * 1024
const looksAtOnce = 32

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

export interface WalkedFile {
  /** Below the root, with slashes. */
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
}

/**
 * Files of a folder whose content somebody hostile writes at the same moment. No path is ever resolved as a whole: each
 * part is opened below the folder that is already open, and a link is never followed.
 */
export class SafeFiles {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  /** Every regular file, in no order. */
  async walk(): Promise<WalkedFile[]> {
    const found: WalkedFile[] = []
    const seen = { entries: 0, pathChars: 0 }
    await using root = await openFolder(this.#root)
    await walkFolder(root, '', 0, found, seen)
    return found
  }

  /** Null when there is no regular file of that path. */
  async open(path: string): Promise<{ file: FileHandle; bytes: number; modifiedMs: number } | null> {
    const { folder, name } = await this.#parent(path)
    if (folder === null) return null
    await using held = folder
    const file = await openBelow(held, name, O_RDONLY | O_NONBLOCK).catch(() => null)
    if (file === null) return null
    const stat = await file.stat()
    if (stat.isFile()) return { file, bytes: stat.size, modifiedMs: stat.mtimeMs }
    await file.close()
    return null
  }

  /** Puts a file at the top, whole or not at all. `exclusive`: fails when the name is taken. */
  async write(
    name: string,
    owner: { uid: number },
    source: AsyncIterable<Uint8Array>,
  ): Promise<{ bytes: number; modifiedMs: number }> {
    await using root = await openFolder(this.#root)
    const draft = `${draftPrefix}${randomBytes(8).toString('hex')}`
    const file = await openBelow(root, draft, O_WRONLY | O_CREAT | O_EXCL, 0o644)
    try {
      let bytes = 0
      for await (const chunk of source) {
        // A disk that is nearly full takes a part of what it is given.
        for (let at = 0; at < chunk.byteLength;) at += (await file.write(chunk, at)).bytesWritten
        bytes += chunk.byteLength
      }
      if (process.getuid?.() === 0) await file.chown(owner.uid, owner.uid)
      const { mtimeMs } = await file.stat()
      await rename(below(root, draft), below(root, name))
      return { bytes, modifiedMs: mtimeMs }
    } catch (error) {
      await unlink(below(root, draft)).catch(() => undefined)
      throw error
    } finally {
      await file.close()
    }
  }

  /** Whether there was a regular file. */
  async remove(path: string): Promise<boolean> {
    const opened = await this.open(path)
    if (opened === null) return false
    await opened.file.close()
    const { folder, name } = await this.#parent(path)
    if (folder === null) return false
    await using held = folder
    return await unlink(below(held, name)).then(
      () => true,
      () => false,
    )
  }

  async #parent(path: string): Promise<{ folder: FileHandle | null; name: string }> {
    const parts = path.split('/')
    const name = parts.pop() ?? ''
    let folder: FileHandle | null = await openFolder(this.#root)
    for (const part of [...parts, name]) {
      if (part !== '' && part !== '.' && part !== '..') continue
      await folder.close()
      return { folder: null, name }
    }
    for (const part of parts) {
      const outer: FileHandle = folder
      folder = await openBelow(outer, part, O_RDONLY | O_DIRECTORY).catch(() => null)
      await outer.close()
      if (folder === null) break
    }
    return { folder, name }
  }
}

const openFolder = (path: string) => open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

/** The kernel's own name for an open folder: what is put in its place afterwards does not matter. */
const below = (folder: FileHandle, name: string) => `/proc/self/fd/${folder.fd}/${name}`

const openBelow = (folder: FileHandle, name: string, flags: number, mode?: number) =>
  open(below(folder, name), flags | O_NOFOLLOW, mode)

interface Seen {
  entries: number
  pathChars: number
}

async function walkFolder(
  folder: FileHandle,
  prefix: string,
  depth: number,
  found: WalkedFile[],
  seen: Seen,
): Promise<void> {
  let names: string[] = []
  const look = async () => {
    found.push(
      ...(await Promise.all(names.map((name) => lookAt(folder, prefix, name)))).filter((file) => file !== null),
    )
    names = []
  }
  for await (const entry of await opendir(below(folder, '.'))) {
    seen.entries += 1
    seen.pathChars += prefix.length + entry.name.length
    if (seen.entries > entriesMax || seen.pathChars > pathCharsMax) break
    // What is still being written is not there yet.
    if (depth === 0 && entry.name.startsWith(draftPrefix)) continue
    if (entry.isFile() && names.push(entry.name) >= looksAtOnce) await look()
    if (!entry.isDirectory() || depth >= depthMax) continue
    const inner = await openBelow(folder, entry.name, O_RDONLY | O_DIRECTORY).catch(() => null)
    if (inner === null) continue
    try {
      await walkFolder(inner, `${prefix}${entry.name}/`, depth + 1, found, seen)
    } finally {
      await inner.close()
    }
  }
  await look()
}

/** Null when it is no regular file any more. A link in its place is looked at itself. */
async function lookAt(folder: FileHandle, prefix: string, name: string): Promise<WalkedFile | null> {
  const stat = await lstat(below(folder, name)).catch(() => null)
  return stat?.isFile() === true ? { path: prefix + name, bytes: stat.size, modifiedMs: stat.mtimeMs } : null
}
