import { constants } from 'node:fs'
import { open, opendir, rmdir, unlink, type FileHandle } from 'node:fs/promises'

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
/** Each level holds a folder open. What lies deeper stays, and goes with the file system that it is on. */
const depthMax = 64
/** Whoever writes faster than this removes has won for now; the same. */
const entriesMax = 20_000

/**
 * Removes a folder in which somebody hostile writes at the same moment. Whoever walks it by paths can be led out of it by a
 * folder that becomes a link between two steps; here every step starts from a folder that is already open. True when all
 * of it has gone.
 */
export async function removeTree(path: string): Promise<boolean> {
  const folder = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => null)
  if (folder === null) return true
  try {
    await empty(folder, 0, { entries: 0 })
  } finally {
    await folder.close()
  }
  return await rmdir(path).then(
    () => true,
    () => false,
  )
}

async function empty(folder: FileHandle, depth: number, seen: { entries: number }): Promise<void> {
  const below = (name: string) => `/proc/self/fd/${folder.fd}/${name}`
  for await (const entry of await opendir(below('.'))) {
    const { name } = entry
    seen.entries += 1
    if (seen.entries > entriesMax) return
    if (entry.isFile()) await giveBack(below(name))
    // Never follows a link, and refuses a folder: the answer says which it was at that moment.
    const removed = await unlink(below(name)).then(
      () => true,
      () => false,
    )
    if (removed || depth >= depthMax) continue
    const inner = await open(below(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => null)
    if (inner === null) continue
    try {
      await empty(inner, depth + 1, seen)
    } finally {
      await inner.close()
    }
    await rmdir(below(name)).catch(() => undefined)
  }
}

/** gVisor holds files open after they are removed, and with them their room. */
async function giveBack(path: string): Promise<void> {
  const file = await open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null)
  if (file === null) return
  try {
    if ((await file.stat()).isFile()) await file.truncate(0)
  } finally {
    await file.close()
  }
}
