import type { Blobs } from './blobs.ts'

const batch = 200
const removalsAtOnce = 8
/** Far longer than a request may take between writing a blob and committing its row. */
const usualAgeMs = 6 * 3_600_000

/** Removing is idempotent: a round that died half way is simply done again. */
export async function removeBlobs(blobs: Blobs, names: readonly string[], signal: AbortSignal): Promise<void> {
  for (let at = 0; at < names.length; at += removalsAtOnce) {
    signal.throwIfAborted()
    await Promise.all(names.slice(at, at + removalsAtOnce).map((name) => blobs.remove(name)))
  }
}

export interface OrphanSearch {
  readonly blobs: Blobs
  readonly prefix: string
  /** Which of these names a row has. */
  readonly listKnown: (names: readonly string[]) => Promise<ReadonlySet<string>>
  readonly now: Date
  readonly signal: AbortSignal
  readonly ageMs?: number
}

/** Removes blobs that no row names: left by processes that died on the way. Returns how many. */
export async function removeOrphans(search: OrphanSearch): Promise<number> {
  const { blobs, prefix, listKnown, now, signal, ageMs = usualAgeMs } = search
  let removed = 0
  let names: string[] = []
  const check = async () => {
    const known = await listKnown(names)
    const orphans = names.filter((name) => !known.has(name))
    await removeBlobs(blobs, orphans, signal)
    removed += orphans.length
    names = []
  }
  for await (const { name, modifiedAt } of blobs.list(prefix)) {
    signal.throwIfAborted()
    if (now.getTime() - modifiedAt.getTime() > ageMs) names.push(name)
    if (names.length >= batch) await check()
  }
  if (names.length > 0) await check()
  return removed
}

/** Halves of blobs, left in the same way. */
export const removeHalves = (blobs: Blobs, ageMs = usualAgeMs): Promise<number> => blobs.removeUnfinished(ageMs)
