import type { Blobs } from '#platform/blobs/blobs.ts'
import type { Db } from '#platform/db/db.ts'
import {
  expireDueFiles,
  forgetClearedFiles,
  listFilesToClear,
  listKnownBlobs,
  markFilesCleared,
} from '../store/ended-files.ts'
import type { FilesTables } from '../store/tables.ts'
import { expireDueUploads, listUploadsToClear, markUploadsCleared } from '../store/uploads.ts'
import { blobPrefix } from './receive-blob.ts'

export interface SweepUses {
  readonly db: Db<FilesTables>
  readonly blobs: Blobs
}

const batch = 200
const removalsAtOnce = 8
/** How long an ended file can still be paged from. */
const keptForPagingMs = 86_400_000
/** Far longer than a request may take between writing a blob and committing its row. */
const orphanAgeMs = 6 * 3_600_000

/** One bounded round: ends what is due, removes the bytes of what has ended. Returns how much there was. */
export async function sweepFiles(use: SweepUses, signal: AbortSignal): Promise<number> {
  const expired = (await expireDueFiles(use.db, batch)) + (await expireDueUploads(use.db, batch))
  const files = await listFilesToClear(use.db, batch)
  await removeAll(use.blobs, files, signal)
  if (files.length > 0)
    await markFilesCleared(
      use.db,
      files.map(({ id }) => id),
    )
  const uploads = await listUploadsToClear(use.db, batch)
  await removeAll(use.blobs, uploads, signal)
  if (uploads.length > 0)
    await markUploadsCleared(
      use.db,
      uploads.map(({ id }) => id),
    )
  const forgotten = await forgetClearedFiles(use.db, keptForPagingMs, batch)
  return expired + files.length + uploads.length + forgotten
}

/** Removing is idempotent: a round that died half way is simply done again. */
async function removeAll(blobs: Blobs, rows: readonly { blobs: string[] }[], signal: AbortSignal): Promise<void> {
  const names = rows.flatMap((row) => row.blobs)
  for (let at = 0; at < names.length; at += removalsAtOnce) {
    signal.throwIfAborted()
    await Promise.all(names.slice(at, at + removalsAtOnce).map((name) => blobs.remove(name)))
  }
}

/** Removes blobs that no row names, and halves of blobs: left by processes that died on the way. Returns how many. */
export async function sweepOrphans(
  use: SweepUses,
  now: Date,
  signal: AbortSignal,
  ageMs = orphanAgeMs,
): Promise<number> {
  let removed = 0
  let names: string[] = []
  const check = async () => {
    const known = await listKnownBlobs(use.db, names)
    const orphans = names.filter((name) => !known.has(name)).map((name) => ({ blobs: [name] }))
    await removeAll(use.blobs, orphans, signal)
    removed += orphans.length
    names = []
  }
  for await (const { name, modifiedAt } of use.blobs.list(blobPrefix)) {
    signal.throwIfAborted()
    if (now.getTime() - modifiedAt.getTime() > ageMs) names.push(name)
    if (names.length >= batch) await check()
  }
  if (names.length > 0) await check()
  return removed + (await use.blobs.removeUnfinished(ageMs))
}
