import type { Db } from '../db/db.ts'
import { holdLease } from '../db/hold-lease.ts'
import type { Tx } from '../db/tx.ts'
import type { ChunkName, Chunks, SubmittedChunk } from './chunks.ts'
import { fenced, orSuperseded } from './fence.ts'
import { LanePause } from './lane-pause.ts'
import type { Lanes } from './lanes.ts'

/** What the rows of one chunk are worked on with. */
export interface Lane<Claimed> {
  readonly name: ChunkName
  readonly chunk: Claimed
  readonly pause: LanePause
  /** No further row is begun. */
  readonly stop: AbortSignal
  /** Rows in hand end as well. */
  readonly signal: AbortSignal
}

export interface ChunkStep<Claimed extends { readonly attempt: number }> {
  readonly db: Pick<Db<never>, 'tx' | 'run'>
  readonly lanes: Lanes
  readonly chunks: Chunks
  /** How long rows in hand may go on when what the chunk is a part of is over. */
  readonly lastRowsMs: number
  /** Takes the chunk. Null when it is done or gone. */
  claim(): Promise<(Claimed & { readonly goesOn: boolean }) | null>
  /** Shows that an attempt is alive, and tells whether its owner still goes on. Null: the chunk is not ours any more. */
  touch(attempt: number): Promise<{ readonly goesOn: boolean } | null>
  /** Works on the rows that have no result. Returns how many were not done. */
  work(lane: Lane<Claimed>): Promise<number>
  /** Ends the chunk, unless its owner goes on and rows are left. True: it is to be taken up again. */
  close(tx: Tx, attempt: number, left: number): Promise<boolean>
  submit(tx: Tx, chunk: SubmittedChunk & { readonly at: Date }): Promise<void>
}

/** Above the time for which rows are begun, with room for the longest of them to end. */
export const chunkTimeoutMs = 60 * 60_000
export const chunkStalledMs = 30_000
/** After this long a chunk is handed on, so that no deployment waits for one. */
const beginForMs = 10 * 60_000
/** Cancellation is noticed this often. */
const renewEveryMs = 1_000
const leaseMs = 30_000
/** Before a chunk that found no room here is offered again. */
const noRoomMs = 5_000

/** One step over one chunk of large work, in a process that has a bounded number of them in hand. */
export async function runChunkStep<Claimed extends { readonly attempt: number }>(
  use: ChunkStep<Claimed>,
  name: ChunkName,
  signal: AbortSignal,
): Promise<void> {
  const projectId = await use.chunks.findProject(use.db, name)
  if (projectId === null) return
  const place = use.lanes.enter(projectId, `${name.ownerId}:${name.n}`)
  if (place === null) return await offerLater(use, name, null, noRoomMs)
  try {
    const chunk = await use.claim()
    if (chunk !== null) await workOn(use, name, chunk, { handOn: place.handOn, signal })
  } finally {
    place.leave()
  }
}

async function workOn<Claimed extends { readonly attempt: number }>(
  use: ChunkStep<Claimed>,
  name: ChunkName,
  chunk: Claimed & { readonly goesOn: boolean },
  { handOn, signal }: { readonly handOn: AbortSignal; readonly signal: AbortSignal },
): Promise<void> {
  const over = new AbortController()
  const cut = new AbortController()
  let lastRows: NodeJS.Timeout | undefined
  const look = (goesOn: boolean) => {
    if (goesOn || over.signal.aborted) return
    over.abort()
    lastRows = setTimeout(() => cut.abort(), use.lastRowsMs)
  }
  look(chunk.goesOn)
  await using held = holdLease({
    renew: async () => {
      const alive = await use.touch(chunk.attempt)
      if (alive !== null) look(alive.goesOn)
      return alive !== null
    },
    everyMs: renewEveryMs,
    forMs: leaseMs,
    signal,
  })
  const pause = new LanePause()
  const longEnough = setTimeout(() => over.abort(), beginForMs)
  try {
    const lane = {
      name,
      chunk,
      pause,
      stop: AbortSignal.any([over.signal, handOn, use.lanes.ending]),
      signal: AbortSignal.any([held.signal, cut.signal]),
    }
    const left = await orSuperseded(unlessAborted(use.work(lane), held.signal), held.signal)
    const goesOn = await use.db.tx((tx) => use.close(tx, chunk.attempt, left))
    // Whoever found no room asks again before it does.
    if (goesOn) await offerLater(use, name, chunk.attempt, Math.max(pause.leftMs, handOn.aborted ? 2 * noRoomMs : 0))
  } finally {
    clearTimeout(longEnough)
    clearTimeout(lastRows)
  }
}

async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const result = await work
  signal.throwIfAborted()
  return result
}

async function offerLater(
  use: Pick<ChunkStep<never>, 'db' | 'chunks' | 'submit'>,
  name: ChunkName,
  attempt: number | null,
  waitMs: number,
): Promise<void> {
  await use.db.tx(async (tx) => {
    const rows = await use.chunks.postpone(tx, name, attempt, waitMs)
    fenced(rows)
    for (const { generation, at } of rows) await use.submit(tx, { ...name, generation, at })
  })
}
