import type { TestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import { ContainerLost } from '#modules/containers/index.ts'
import { CacheUnavailable } from '#platform/cache/unavailable.ts'
import type { Db } from '#platform/db/db.ts'
import { isDatabaseUnavailable } from '#platform/db/unavailable.ts'
import type { Lane as ChunkLane } from '#platform/durable/chunk-step.ts'
import type { Lanes } from '#platform/durable/lanes.ts'
import { StepOver } from '#platform/durable/step-over.ts'
import { TurnedAway, workRows } from '#platform/durable/work-rows.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { planAsking } from '../domain/ask-plan.ts'
import { compileCriteria } from '../domain/criteria.ts'
import { noSampling, shownSample } from '../domain/sample.ts'
import { RunCannotGoOn } from '../domain/run-cannot-go-on.ts'
import type { ClaimedChunk } from '../store/chunks.ts'
import { listOpenRows } from '../store/rows.ts'
import type { EvalsTables } from '../store/tables.ts'
import type { GradeUses } from './grade-criterion.ts'
import { gradeRow, RowProgress, type RowOutcome, type RowPlan } from './grade-row.ts'
import type { RowReader } from './row-reader.ts'
import type { ResultWriter } from './result-writer.ts'

export interface RunRowsUses extends GradeUses {
  readonly db: Db<EvalsTables>
  readonly log: Log
  readonly lanes: Lanes
  readonly reader: RowReader
  readonly writer: ResultWriter
  /** How long a provider that answers nobody is waited for. */
  readonly patienceMs: number
}

type Lane = ChunkLane<ClaimedChunk>

/** Samples and judges the rows of a chunk that have no result. Returns how many were not done. */
export async function runRows(use: RunRowsUses, lane: Lane): Promise<number> {
  const { chunk, name } = lane
  const plan: RowPlan = {
    asking: planAsking(chunk.data_source),
    criteria: compileCriteria(chunk.testing_criteria as unknown as TestingCriterion[]),
  }
  const open = await listOpenRows(use.db, name.ownerId, { first: chunk.first_row, last: chunk.last_row })
  const rows = open.map((n) => new RowProgress(n))
  const patience = new Patience(use.patienceMs)
  try {
    return await workRows(use.lanes, lane, { projectId: chunk.project_id, rows }, (row) =>
      patience.watch(() => runOne(use, lane, plan, row)),
    )
  } finally {
    // Rows that are left have used what they used.
    await Promise.all(rows.map(({ meter }) => meter.recordAlone(use.limits)))
  }
}

/** A provider may be down for a while; a run does not wait for it for ever. */
class Patience {
  readonly #forMs: number
  #downSince: number | null = null

  constructor(forMs: number) {
    this.#forMs = forMs
  }

  async watch(work: () => Promise<void>): Promise<void> {
    try {
      await work()
      this.#downSince = null
    } catch (error) {
      if (!(error instanceof TurnedAway)) throw error
      this.#downSince ??= performance.now()
      const minutes = Math.round(this.#forMs / 6_000) / 10
      if (performance.now() - this.#downSince < this.#forMs) throw error
      const cause = error.cause instanceof Error ? ` ${error.cause.message}` : ''
      throw new RunCannotGoOn('provider_unavailable', `No row could be asked for ${minutes} minutes.${cause}`, {
        cause: error,
      })
    }
  }
}

async function runOne(use: RunRowsUses, lane: Lane, plan: RowPlan, progress: RowProgress): Promise<void> {
  const { name, chunk, signal } = lane
  const { org_id: orgId, project_id: projectId, key_id: keyId } = chunk
  const { meter, n } = progress
  const grading = { charged: { orgId, projectId, keyId }, meter, signal, runId: name.ownerId }
  let outcome: RowOutcome
  try {
    const row = await use.reader.read(name.ownerId, n)
    outcome = await gradeRow(use, plan, row, progress, grading)
  } catch (error) {
    signal.throwIfAborted()
    if (isNoRoom(error)) throw new TurnedAway(error instanceof Fault ? error.retryAfterMs : undefined, error)
    if (saysNothingOfRow(error)) throw error
    use.log.error({ err: error, runId: name.ownerId, row: n }, 'a row of a run failed')
    outcome = ourFault()
  }
  const write = async (ended: RowOutcome) => {
    const result = { runId: name.ownerId, n, chunk: name.n, attempt: chunk.attempt, ...ended, usage: meter.use }
    await use.writer.keep(result, meter, signal)
  }
  try {
    await write(outcome)
  } catch (error) {
    if (saysNothingOfRow(error) || signal.aborted) throw error
    // Not even its result can be stored; tried again as it is, it would hold the run up for ever.
    use.log.error({ err: error, runId: name.ownerId, row: n }, 'the result of a row was refused')
    await write(ourFault())
  }
}

/** Containers of graders are not to be had now. */
const isNoRoom = (error: unknown) =>
  error instanceof ContainerLost || (error instanceof Fault && error.code === 'server_overloaded')

function ourFault(): RowOutcome {
  const error = { code: 'internal_error', message: 'Something went wrong on our side.' }
  return { status: 'error', passed: [], sample: shownSample(null, [], noSampling, error), results: [] }
}

function saysNothingOfRow(error: unknown): boolean {
  return (
    error instanceof TurnedAway ||
    error instanceof StepOver ||
    error instanceof RunCannotGoOn ||
    error instanceof CacheUnavailable ||
    isDatabaseUnavailable(error)
  )
}
