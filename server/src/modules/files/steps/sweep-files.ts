import type { Blobs } from '#platform/blobs/blobs.ts'
import { removeBlobs, removeHalves, removeOrphans } from '#platform/blobs/remove-orphans.ts'
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
/** How long an ended file can still be paged from. */
const keptForPagingMs = 86_400_000

const blobsOf = (rows: readonly { blobs: string[] }[]) => rows.flatMap((row) => row.blobs)

/** One bounded round: ends what is due, removes the bytes of what has ended. Returns how much there was. */
export async function sweepFiles(use: SweepUses, signal: AbortSignal): Promise<number> {
  const expired = (await expireDueFiles(use.db, batch)) + (await expireDueUploads(use.db, batch))
  const files = await listFilesToClear(use.db, batch)
  await removeBlobs(use.blobs, blobsOf(files), signal)
  if (files.length > 0)
    await markFilesCleared(
      use.db,
      files.map(({ id }) => id),
    )
  const uploads = await listUploadsToClear(use.db, batch)
  await removeBlobs(use.blobs, blobsOf(uploads), signal)
  if (uploads.length > 0)
    await markUploadsCleared(
      use.db,
      uploads.map(({ id }) => id),
    )
  const forgotten = await forgetClearedFiles(use.db, keptForPagingMs, batch)
  return expired + files.length + uploads.length + forgotten
}

/** Removes blobs that no row names, and halves of blobs: left by processes that died on the way. Returns how many. */
export async function sweepOrphans(
  { db, blobs }: SweepUses,
  now: Date,
  signal: AbortSignal,
  ageMs?: number,
): Promise<number> {
  const age = ageMs === undefined ? {} : { ageMs }
  const listKnown = (names: readonly string[]) => listKnownBlobs(db, [...names])
  const removed = await removeOrphans({ blobs, prefix: blobPrefix, listKnown, now, signal, ...age })
  return removed + (await removeHalves(blobs, ageMs))
}
