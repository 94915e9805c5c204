import type { TestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import { ContainerLost } from '#modules/containers/index.ts'
import { CacheUnavailable } from '#platform/cache/unavailable.ts'
import type { Db } from '#platform/db/db.ts'
import { isDatabaseUnavailable } from '#platform/db/unavailable.ts'
import type { Lane as ChunkLane } from '#platform/durable/chunk-step.ts'
import type { Lanes } from '#platform/durable/lanes.ts'
import { StepOver } from '#platform/durable/step-over.ts'
import { SteppedAside, TurnedAway, workRows } from '#platform/durable/work-rows.ts'
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
import { errored, gradeRow, RowProgress, type RowOutcome, type RowPlan } from './grade-row.ts'
import { LimitWindow, type Ticket } from './limit-window.ts'
import { whyOf, type Patience } from './patience.ts'
import type { RowReader } from './row-reader.ts'
import type { ResultWriter } from './result-writer.ts'

export interface RunRowsUses extends GradeUses {
  readonly db: Db<EvalsTables>
  readonly log: Log
  readonly lanes: Lanes
  readonly reader: RowReader
  readonly writer: ResultWriter
  readonly patience: Patience
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
  try {
    const door = new LimitWindow()
    return await workRows(use.lanes, lane, { projectId: chunk.project_id, rows, door }, (row, ticket) =>
      runOne(use, lane, plan, row, ticket),
    )
  } finally {
    // Rows that came to no result have used what they used.
    const recorded = await Promise.allSettled(rows.map(({ meter }) => meter.recordAlone(use.limits, use.lanes.ending)))
    for (const one of recorded) {
      if (one.status === 'rejected') use.log.error({ err: one.reason, runId: name.ownerId }, 'usage of a row is lost')
    }
  }
}

async function runOne(
  use: RunRowsUses,
  lane: Lane,
  plan: RowPlan,
  progress: RowProgress,
  ticket: Ticket,
): Promise<void> {
  const outcome = await outcomeOf(use, lane, plan, progress, ticket)
  try {
    await keep(use, lane, progress, outcome)
  } catch (error) {
    if (saysNothingOfRow(error) || lane.signal.aborted) throw error
    // Not even its result can be stored; tried again as it is, it would hold the run up for ever.
    use.log.error({ err: error, runId: lane.name.ownerId, row: progress.n }, 'the result of a row was refused')
    await keep(use, lane, progress, ourFault())
  }
}

/** How a row ends. Throws what says nothing about it: it is taken up again. */
async function outcomeOf(
  use: RunRowsUses,
  lane: Lane,
  plan: RowPlan,
  progress: RowProgress,
  ticket: Ticket,
): Promise<RowOutcome> {
  const { chunk, signal, stop } = lane
  const { ownerId: runId } = lane.name
  const { org_id: orgId, project_id: projectId, key_id: keyId } = chunk
  const { meter, n } = progress
  try {
    const row = await use.reader.read(runId, n)
    return await gradeRow(use, plan, row, progress, {
      charged: { orgId, projectId, keyId },
      meter,
      asking: use.patience.asking(runId, progress.refused),
      letIn: (ask) => ticket.letIn(ask, { signal, stop }),
      signal,
      runId,
    })
  } catch (error) {
    signal.throwIfAborted()
    const refusal = refusalOf(error)
    if (refusal !== null) {
      if (!use.patience.isOver(progress.refused, refusal)) throw refusal
      const message = `It was refused ${progress.refused.refusals} times, and other rows were answered. ${whyOf(refusal)}`
      return errored(plan, progress, { code: 'provider_unavailable', message: message.trim() })
    }
    if (saysNothingOfRow(error)) throw error
    use.log.error({ err: error, runId, row: n }, 'a row of a run failed')
    return ourFault()
  }
}

async function keep(use: RunRowsUses, lane: Lane, { n, meter }: RowProgress, outcome: RowOutcome): Promise<void> {
  const { ownerId: runId, n: chunk } = lane.name
  const result = { runId, n, chunk, attempt: lane.chunk.attempt, ...outcome, usage: meter.use }
  await use.writer.keep(result, meter, lane.signal)
}

/** The provider has no room, or containers of graders are not to be had now. */
function refusalOf(error: unknown): TurnedAway | null {
  if (error instanceof TurnedAway) return error
  if (error instanceof ContainerLost) return new TurnedAway(undefined, error)
  if (error instanceof Fault && error.code === 'server_overloaded') return new TurnedAway(error.retryAfterMs, error)
  return null
}

function ourFault(): RowOutcome {
  const error = { code: 'internal_error', message: 'Something went wrong on our side.' }
  return { status: 'error', passed: [], sample: shownSample(null, [], noSampling, error), results: [] }
}

function saysNothingOfRow(error: unknown): boolean {
  return (
    error instanceof StepOver ||
    error instanceof SteppedAside ||
    error instanceof RunCannotGoOn ||
    error instanceof CacheUnavailable ||
    isDatabaseUnavailable(error)
  )
}
