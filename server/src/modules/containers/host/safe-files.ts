import { constants } from 'node:fs'
import { open, opendir, rename, unlink, type FileHandle } from 'node:fs/promises'

/** More entries than this are not walked: a listing stays bounded whatever was written. */
const entriesMax = 50_000
const depthMax = 32

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
    const seen = { entries: 0 }
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
    const draft = `.incoming-${Math.random().toString(36).slice(2)}`
    const file = await openBelow(root, draft, O_WRONLY | O_CREAT | O_EXCL, 0o644)
    try {
      let bytes = 0
      for await (const chunk of source) {
        await file.write(chunk)
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

async function walkFolder(
  folder: FileHandle,
  prefix: string,
  depth: number,
  found: WalkedFile[],
  seen: { entries: number },
): Promise<void> {
  for await (const entry of await opendir(`/proc/self/fd/${folder.fd}/.`)) {
    seen.entries += 1
    if (seen.entries > entriesMax) return
    if (entry.isDirectory()) {
      if (depth >= depthMax) continue
      const inner = await openBelow(folder, entry.name, O_RDONLY | O_DIRECTORY).catch(() => null)
      if (inner === null) continue
      try {
        await walkFolder(inner, `${prefix}${entry.name}/`, depth + 1, found, seen)
      } finally {
        await inner.close()
      }
      continue
    }
    if (!entry.isFile()) continue
    const file = await openBelow(folder, entry.name, O_RDONLY | O_NONBLOCK).catch(() => null)
    if (file === null) continue
    try {
      const stat = await file.stat()
      if (stat.isFile()) found.push({ path: prefix + entry.name, bytes: stat.size, modifiedMs: stat.mtimeMs })
    } finally {
      await file.close()
    }
  }
}
