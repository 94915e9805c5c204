import type { Blobs } from '#platform/blobs/blobs.ts'
import { removeOrphans } from '#platform/blobs/remove-orphans.ts'
import type { Db } from '#platform/db/db.ts'
import {
  dropReservedContainers,
  expireContainers,
  expireLost,
  extendContainers,
  forgetContainers,
  listDue,
  listEndedOfLostHosts,
  listKnownInlineBlobs,
  listReserved,
  listUnplacedEnded,
  markCleared,
  markWithoutBlobs,
  type Uncleared,
} from '../store/ended-containers.ts'
import type { ContainersTables } from '../store/tables.ts'
import { inlineBlobPrefix } from './provision.ts'

export interface SweepUses {
  readonly db: Db<ContainersTables>
  readonly blobs: Blobs
  /** Which of these a response that has not ended refers to. Not stored here: it is so exactly while it is so. */
  readonly inUse: (containerIds: readonly string[]) => Promise<ReadonlySet<string>>
}

const batch = 200
/** Time for a request to commit its response after it reserved a container. */
const reservedMs = 60_000
/** An unstored response has no record that could be asked: its container waits for so long. */
const unstoredMs = 30 * 60_000
/** A host that is silent for so long has lost its containers. */
const hostLostMs = 60_000
/** How long the record of an expired container can be read. */
const keptMs = 24 * 3_600_000
/** So that whoever deletes page by page can ask for the page after the one that is gone. */
const deletedKeptMs = 10 * 60_000

/** One bounded round: ends what is due and not in use, and forgets what is gone. Returns how much there was to do. */
export async function sweepContainers(use: SweepUses): Promise<number> {
  const { db, blobs } = use
  const due = await listDue(db, batch)
  const used = due.length === 0 ? new Set<string>() : await use.inUse(due)
  const over = due.filter((id) => !used.has(id))
  if (used.size > 0) await extendContainers(db, [...used])
  const expired = over.length === 0 ? 0 : await expireContainers(db, over)
  const lost = await expireLost(db, hostLostMs, 'Its host has not been heard of for a minute.')
  const dropped = await dropUnneeded(use)
  const unplaced = await removeBlobs(blobs, await listUnplacedEnded(db, batch))
  if (unplaced.length > 0) await markCleared(db, unplaced)
  const orphaned = await removeBlobs(blobs, await listEndedOfLostHosts(db, hostLostMs, batch))
  if (orphaned.length > 0) await markWithoutBlobs(db, orphaned)
  const forgotten = await forgetContainers(db, keptMs, deletedKeptMs, batch)
  return expired + lost + dropped + unplaced.length + orphaned.length + forgotten
}

async function removeBlobs(blobs: Blobs, ended: readonly Uncleared[]): Promise<string[]> {
  for (const { inline_blobs } of ended) for (const blob of inline_blobs) await blobs.remove(blob)
  return ended.map(({ id }) => id)
}

async function dropUnneeded({ db, inUse }: SweepUses): Promise<number> {
  const waiting = await listReserved(db, reservedMs, batch)
  const long = new Set((await listReserved(db, unstoredMs, batch)).map(({ id }) => id))
  const asked = waiting.filter(({ response_id }) => response_id !== null).map(({ id }) => id)
  const used = asked.length === 0 ? new Set<string>() : await inUse(asked)
  const over = waiting.filter(({ id, response_id }) => (response_id === null ? long.has(id) : !used.has(id)))
  return over.length === 0
    ? 0
    : await dropReservedContainers(
        db,
        over.map(({ id }) => id),
      )
}

/** Blobs of inline content that no container names: left by processes that died on the way. */
export function sweepInlineOrphans({ db, blobs }: SweepUses, now: Date, signal: AbortSignal): Promise<number> {
  const listKnown = (names: readonly string[]) => listKnownInlineBlobs(db, [...names])
  return removeOrphans({ blobs, prefix: inlineBlobPrefix, listKnown, now, signal })
}
