import type { CreateDataSourceConfig } from '@switchyard/contracts/evals/data-sources.ts'
import { holdLease } from '#platform/db/hold-lease.ts'
import type { FairSlots } from '#platform/durable/fair-slots.ts'
import { fenced, orSuperseded } from '#platform/durable/fence.ts'
import { handler } from '#platform/durable/handler.ts'
import { startChunks } from '#platform/durable/start-chunks.ts'
import { Finished } from '#platform/durable/step-over.ts'
import { RunCannotGoOn } from '../domain/run-cannot-go-on.ts'
import { endNow, type EndUses } from '../steps/end-run.ts'
import { loadRows, type LoadRowsUses } from '../steps/load-rows.ts'
import { startLoads, type StartLoadUses } from '../steps/start-loads.ts'
import { insertChunks } from '../store/chunks.ts'
import { findEval } from '../store/evals.ts'
import { claimLoading, markLoaded, stalledLoads, touchLoading } from '../store/lifecycle.ts'
import { findLoadProject, postponeLoad } from '../store/loads.ts'
import { lockRun } from '../store/runs.ts'

export type LoadRunUses = LoadRowsUses &
  EndUses &
  StartLoadUses & {
    /** Sources that this process reads at once: each has megabytes of rows in hand. */
    readonly loads: FairSlots
  }

const stepTimeoutMs = 60 * 60_000
const renewEveryMs = 2_000
const leaseMs = 30_000
const stalledMs = 30_000
/** Before a load that found no room here is offered again. */
const noRoomMs = 2_000
/** About so many rows belong to one step: few enough to be done in minutes, enough to make its own cost small. */
const rowsPerChunk = 100
/** Far more than kills, deployments and a storage that is away for an hour take: better an end with a reason than none. */
const attemptsMax = 200
const triedOften = `The source was read ${attemptsMax} times and never to its end.`

/** Reads the rows of a run and lets it begin, or fail. */
export const loadRun = handler({
  name: 'evals.load-run',
  stepTimeoutMs,
  outstanding: async (tx, limit) => {
    const rows = await stalledLoads(tx, limit, stalledMs)
    return rows.map(({ id, generation }) => ({ key: `${id}:${generation}`, input: id }))
  },
  run: async (use: LoadRunUses, id: string, { signal }) => {
    const projectId = await findLoadProject(use.db, id)
    if (projectId === null) return
    if (!use.loads.tryTake(projectId)) return await offerLater(use, id)
    try {
      await load(use, id, signal)
    } finally {
      use.loads.free(projectId)
    }
  },
})

async function load(use: LoadRunUses, id: string, signal: AbortSignal): Promise<void> {
  const run = await claimLoading(use.db, id)
  if (run === null) return
  await using held = holdLease({
    renew: () => touchLoading(use.db, id, run.attempt),
    everyMs: renewEveryMs,
    forMs: leaseMs,
    signal,
  })
  const found = await findEval(use.db, run.project_id, run.eval_id)
  if (found === null) throw new Finished('its eval is gone')
  const config = found.data_source_config as CreateDataSourceConfig
  try {
    if (run.attempt > attemptsMax) throw new RunCannotGoOn('source_unreadable', triedOften)
    const total = await orSuperseded(loadRows(use, run, config, held.signal), held.signal)
    await use.db.tx(async (tx) => {
      fenced(await markLoaded(tx, id, run.attempt, total))
      await insertChunks(tx, run, total, rowsPerChunk)
      await startChunks(use, tx, run.project_id)
      await startLoads(use, tx, run.project_id)
    })
  } catch (error) {
    if (!(error instanceof RunCannotGoOn)) throw error
    const { code, message } = error
    await use.db.tx(async (tx) => {
      const open = await lockRun(tx, id)
      if (open?.ended_at === null) await endNow(use, tx, open, 'failed', { code, message })
      await startLoads(use, tx, run.project_id)
    })
  }
}

async function offerLater(use: LoadRunUses, id: string): Promise<void> {
  await use.db.tx(async (tx) => {
    const rows = await postponeLoad(tx, id, noRoomMs)
    fenced(rows)
    for (const { generation, at } of rows) await use.submitLoad(tx, { id, generation, at })
  })
}
