import { chunkStalledMs, chunkTimeoutMs, runChunkStep } from '#platform/durable/chunk-step.ts'
import type { ChunkName } from '#platform/durable/chunks.ts'
import { fenced } from '#platform/durable/fence.ts'
import { handler } from '#platform/durable/handler.ts'
import { RunCannotGoOn } from '../domain/run-cannot-go-on.ts'
import { afterChunk, endNow, type EndUses } from '../steps/end-run.ts'
import type { PythonGraders } from '../steps/python-graders.ts'
import { runRows, type RunRowsUses } from '../steps/run-rows.ts'
import { chunks, claimChunk, closeChunk, touchChunk, type ClaimedChunk } from '../store/chunks.ts'
import { lockRun } from '../store/runs.ts'
import type { Reason } from '../store/tables.ts'

export interface GradeChunkUses extends RunRowsUses, EndUses {
  readonly python: PythonGraders
}

/** A run that is over leaves nothing to wait for: its rows in hand end at once. */
const lastRowsMs = 0

/** In a row, hours all in all: better an end with a reason than a run that never ends. */
const stallsMax = 12
const triedOften = `Whoever took up some rows went away ${stallsMax} times, and they came to no result.`

const running = (status: string) => ({ goesOn: status === 'in_progress' })

/** Samples and judges the rows of one chunk that have no result yet. */
export const gradeChunk = handler({
  name: 'evals.grade-chunk',
  stepTimeoutMs: chunkTimeoutMs,
  outstanding: chunks.outstanding(chunkStalledMs),
  run: async (use: GradeChunkUses, name: ChunkName, { signal }) => {
    const { db, lanes } = use
    let stopped: Reason | null = null
    let ended = false
    await runChunkStep<ClaimedChunk>(
      {
        db,
        lanes,
        chunks,
        lastRowsMs,
        async claim() {
          const chunk = await claimChunk(db, name)
          return chunk && { ...chunk, ...running(chunk.status) }
        },
        async touch(attempt) {
          const status = await touchChunk(db, name, attempt)
          return status && running(status)
        },
        async work(lane) {
          try {
            if (lane.chunk.stalls > stallsMax) throw new RunCannotGoOn('internal_error', triedOften)
            return await runRows(use, lane)
          } catch (error) {
            if (!(error instanceof RunCannotGoOn)) throw error
            stopped = { code: error.code, message: error.message }
            return 1
          }
        },
        async close(tx, attempt, left) {
          const run = await lockRun(tx, name.ownerId)
          if (run === null || run.ended_at !== null) return false
          if (stopped !== null) {
            ended = true
            await endNow(use, tx, run, 'failed', stopped)
            return false
          }
          if (left > 0) return true
          fenced(await closeChunk(tx, name, attempt))
          ended = await afterChunk(use, tx, run)
          return false
        },
        submit: use.submitChunk,
      },
      name,
      signal,
    )
    if (ended) await use.python.release(name.ownerId)
  },
})
