import { chunkStalledMs, chunkTimeoutMs, runChunkStep } from '#platform/durable/chunk-step.ts'
import type { ChunkName } from '#platform/durable/chunks.ts'
import { fenced } from '#platform/durable/fence.ts'
import { handler } from '#platform/durable/handler.ts'
import { runLines, type RunLinesUses } from '../steps/run-lines.ts'
import { afterChunk, type NextUses } from '../steps/start-next.ts'
import { lockBatch } from '../store/batches.ts'
import { chunks, claimChunk, closeChunk, touchChunk, type ClaimedChunk } from '../store/chunks.ts'
import { listOpenLines } from '../store/lines.ts'

export type RunChunkUses = RunLinesUses & NextUses

/** How long lines in hand may go on when their batch was cancelled or has expired. */
const lastLinesMs = 5 * 60_000

const running = (status: string) => ({ goesOn: status === 'in_progress' })

/** Works on the lines of one chunk that have no result yet. */
export const runChunk = handler({
  name: 'batches.run-chunk',
  stepTimeoutMs: chunkTimeoutMs,
  outstanding: chunks.outstanding(chunkStalledMs),
  run: async (use: RunChunkUses, name: ChunkName, { signal }) => {
    const { db, lanes } = use
    await runChunkStep<ClaimedChunk>(
      {
        db,
        lanes,
        chunks,
        lastRowsMs: lastLinesMs,
        async claim() {
          const chunk = await claimChunk(db, name)
          return chunk && { ...chunk, ...running(chunk.status) }
        },
        async touch(attempt) {
          const status = await touchChunk(db, name, attempt)
          return status && running(status)
        },
        async work(lane) {
          const { first_line: first, last_line: last } = lane.chunk
          return await runLines(use, lane, await listOpenLines(db, name.ownerId, first, last))
        },
        async close(tx, attempt, left) {
          const batch = await lockBatch(tx, name.ownerId)
          if (batch === null) return false
          if (batch.status === 'in_progress' && left > 0) return true
          fenced(await closeChunk(tx, name, attempt))
          await afterChunk(use, tx, batch)
          return false
        },
        submit: use.submitChunk,
      },
      name,
      signal,
    )
  },
})
