import { holdLease } from '#platform/db/hold-lease.ts'
import { fenced } from '#platform/durable/fence.ts'
import { handler } from '#platform/durable/handler.ts'
import { LanePause } from '../steps/lane-pause.ts'
import { runLines, type RunLinesUses } from '../steps/run-lines.ts'
import { afterChunk, type NextUses } from '../steps/start-next.ts'
import { lockBatch } from '../store/batches.ts'
import {
  claimChunk,
  closeChunk,
  postponeChunk,
  stalledChunks,
  touchChunk,
  type ChunkName,
  type ClaimedChunk,
} from '../store/chunks.ts'
import { listOpenLines } from '../store/lines.ts'
import { orSuperseded } from './validate-batch.ts'

export type RunChunkUses = RunLinesUses & NextUses

/** Above the time for which lines are begun, with room for the longest line to end. */
const stepTimeoutMs = 60 * 60_000
/** After this long a chunk is handed on, so that no deployment waits for one. */
const beginForMs = 10 * 60_000
/** Cancellation is noticed this often. */
const renewEveryMs = 2_000
const leaseMs = 30_000
const stalledMs = 30_000
/** How long lines in hand may go on when their batch was cancelled or has expired. */
const lastLinesMs = 5 * 60_000
/** Before a chunk that found no room here is offered again. */
const noRoomMs = 5_000

export const keyOfChunk = ({ batchId, n, generation }: ChunkName & { readonly generation: number }) =>
  `${batchId}:${n}:${generation}`

/** Works on the lines of one chunk that have no result yet. */
export const runChunk = handler({
  name: 'batches.run-chunk',
  stepTimeoutMs,
  outstanding: async (tx, limit) => {
    const rows = await stalledChunks(tx, limit, stalledMs)
    return rows.map(({ batchId, n, generation }) => ({
      key: keyOfChunk({ batchId, n, generation }),
      input: { batchId, n },
    }))
  },
  run: async (use: RunChunkUses, name: ChunkName, { signal }) => {
    const lane = `${name.batchId}:${name.n}`
    if (!use.lanes.enter(lane)) return await offerLater(use, name, null, noRoomMs)
    try {
      const chunk = await claimChunk(use.db, name)
      if (chunk !== null) await workOn(use, name, chunk, signal)
    } finally {
      use.lanes.leave(lane)
    }
  },
})

async function workOn(use: RunChunkUses, name: ChunkName, chunk: ClaimedChunk, signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  const cut = new AbortController()
  let lastLines: NodeJS.Timeout | undefined
  const look = (status: ClaimedChunk['status']) => {
    if (status === 'in_progress' || over.signal.aborted) return
    over.abort()
    lastLines = setTimeout(() => cut.abort(), lastLinesMs)
  }
  look(chunk.status)
  await using held = holdLease({
    renew: async () => {
      const status = await touchChunk(use.db, name, chunk.attempt)
      if (status !== null) look(status)
      return status !== null
    },
    everyMs: renewEveryMs,
    forMs: leaseMs,
    signal,
  })
  const pause = new LanePause()
  const handOn = setTimeout(() => over.abort(), beginForMs)
  try {
    const lines = await listOpenLines(use.db, name.batchId, chunk.first_line, chunk.last_line)
    const lane = {
      name,
      chunk,
      pause,
      stop: AbortSignal.any([over.signal, use.lanes.ending]),
      signal: AbortSignal.any([held.signal, cut.signal]),
    }
    const left = await orSuperseded(unlessAborted(runLines(use, lane, lines), held.signal), held.signal)
    await endStep(use, name, chunk, { left, waitMs: pause.leftMs })
  } finally {
    clearTimeout(handOn)
    clearTimeout(lastLines)
  }
}

async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const result = await work
  signal.throwIfAborted()
  return result
}

/** The chunk is done, or goes on in another step. */
async function endStep(
  use: RunChunkUses,
  name: ChunkName,
  { attempt }: ClaimedChunk,
  { left, waitMs }: { left: number; waitMs: number },
): Promise<void> {
  const goesOn = await use.db.tx(async (tx) => {
    const batch = await lockBatch(tx, name.batchId)
    if (batch === null) return false
    if (batch.status === 'in_progress' && left > 0) return true
    fenced(await closeChunk(tx, name, attempt))
    await afterChunk(use, tx, batch)
    return false
  })
  if (goesOn) await offerLater(use, name, attempt, waitMs)
}

async function offerLater(use: RunChunkUses, name: ChunkName, attempt: number | null, waitMs: number): Promise<void> {
  await use.db.tx(async (tx) => {
    const rows = await postponeChunk(tx, name, attempt, waitMs)
    fenced(rows)
    for (const { generation, at } of rows) await use.submitChunk(tx, { ...name, generation, at })
  })
}
