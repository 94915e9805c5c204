import type { StreamEventBody } from '@switchyard/contracts/responses/stream.ts'
import type { Db } from '#platform/db/db.ts'
import { holdLease, LeaseLost } from '#platform/db/hold-lease.ts'
import type { Tx } from '#platform/db/tx.ts'
import { fenced } from '#platform/durable/fence.ts'
import { handler } from '#platform/durable/handler.ts'
import { Superseded } from '#platform/durable/step-over.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { after, type Ending, type LiveResponse, type Moved } from '../domain/live-response.ts'
import { charsSaid, cutOff, TurnMeter, usageEntry } from '../domain/metering.ts'
import { nextMove, type Move } from '../domain/next-move.ts'
import { EventNumbers } from '../domain/number-events.ts'
import { closings, toldBy } from '../domain/open-items.ts'
import { responseView } from '../domain/response-view.ts'
import { terminalEventOf } from '../domain/terminal-event.ts'
import type { AttemptLog, EventLog } from '../feed/event-log.ts'
import type { UsageEntry } from '#modules/limits/index.ts'
import { closeResponse, stateOf, type CloseUses } from '../steps/close-response.ts'
import { entriesOf, settleTurns } from '../steps/meter-turns.ts'
import { leaveShell } from '../steps/leave-shell.ts'
import { loadLive, type Loaded } from '../steps/load-live.ts'
import { makeMove, type MoveUses } from '../steps/make-move.ts'
import { insertEvents, listEventsAfter, type EventBatch } from '../store/events.ts'
import { advanceStep, appendOutput, claimStep, stalledSteps, touchStep, type Claimed } from '../store/running.ts'
import type { ResponsesTables } from '../store/tables.ts'

export interface TakeStepUses extends MoveUses, CloseUses {
  readonly db: Db<ResponsesTables>
  readonly log: Log
  readonly events: EventLog
  readonly announce: (batches: readonly EventBatch[]) => void
  readonly submitStep: (tx: Tx, step: { id: string; step: number; generation: number }) => Promise<void>
  /** A place of the project's is free: whoever waits may start. */
  readonly startNext: (tx: Tx, projectId: string) => Promise<void>
}

/** One step of a background response, by name. */
export interface StepInput {
  readonly id: string
  readonly step: number
}

const stepTimeoutMs = 15 * 60_000
const renewEveryMs = 5_000
const leaseMs = 30_000
/** Longer than from one renewal to the next, waiting in the engine included. */
const stalledMs = 30_000
/** Events are read in pages of so many rows, to the last: a number given twice would be a lie to every reader. */
const eventRowsPage = 1_000

/** Attempts of one response that came to nothing. With more, something in it ends whoever works on it. */
const attemptsLostMax = 100

const givenUp: Move = {
  kind: 'end',
  ending: { status: 'failed', error: { code: 'server_error', message: 'The response could not be carried out.' } },
}

export const takeStep = handler({
  name: 'responses.take-step',
  stepTimeoutMs,
  outstanding: async (tx, limit) => {
    const rows = await stalledSteps(tx, limit, stalledMs)
    return rows.map(({ id, step, generation }) => ({ key: `${id}:${generation}`, input: { id, step } }))
  },
  run: async (use: TakeStepUses, { id, step }: StepInput, { signal }) => {
    const claimed = await claimStep(use.db, id, step)
    if (claimed === null) return
    const lost = new AbortController()
    await using held = holdLease({
      renew: () => touchStep(use.db, id, claimed.attempt),
      everyMs: renewEveryMs,
      forMs: leaseMs,
      signal: AbortSignal.any([signal, lost.signal]),
    })
    const attempt = { responseId: id, attempt: claimed.attempt, onLost: () => lost.abort(new LeaseLost('taken over')) }
    const loaded = await loadLive(use.db, id, step, claimed)
    if (loaded === null) return
    try {
      await carryOut(use, loaded, claimed, attempt, held.signal)
    } finally {
      use.events.drop(attempt)
    }
  },
})

async function carryOut(
  use: TakeStepUses,
  loaded: Loaded,
  claimed: Claimed,
  attempt: AttemptLog,
  signal: AbortSignal,
): Promise<void> {
  const { accepted, createdAt } = loaded
  const { told, said } = await recover(use.db, attempt.responseId, claimed)
  const numbers = new EventNumbers(told.nextNumber, accepted.live.asked.obfuscation)
  const tell = async (events: readonly StreamEventBody[]) => {
    for (const body of events) {
      const event = numbers.number(body)
      await use.events.write(attempt, event.sequence_number, JSON.stringify(event))
    }
  }
  const begun: LiveResponse = { ...accepted.live, nextOutputIndex: told.nextOutputIndex }
  if (begun.turns === 0 && !told.inProgress) {
    const response = responseView(stateOf(accepted, begun, createdAt, null))
    await tell([{ type: 'response.in_progress', response }])
  }
  const hopeless = claimed.attempt - begun.turns > attemptsLostMax
  const move = hopeless
    ? givenUp
    : nextMove(begun, (at) => use.context.tokens(at.projectId, at.asked, [...at.context, ...at.output]))
  const { shellOutput } = told
  const shown = move.kind === 'shell' && shellOutput?.item.call_id === move.call.call_id ? shellOutput : null
  await tell(closings(told, shown))
  let live = begun
  let moved: Moved | null = null
  const meter = new TurnMeter(begun.turns)
  if (move.kind !== 'end') {
    const moves = makeMove(use, begun, move, { tell: true, signal, shown, endOnAbort: false, meter })
    for (let next = await moves.next(); ; next = await moves.next()) {
      if (next.done === true) {
        moved = next.value
        break
      }
      // One that was called off tells nothing more: what it would say of its end is not how it ends.
      if (!signal.aborted) await tell(next.value)
    }
    live = after(begun, moved)
  }
  // Called off, taken over, or cut off by the engine: whoever did that knows how it goes on.
  if (signal.aborted) throw signal.reason instanceof LeaseLost ? new Superseded('lease lost') : signal.reason
  const ending = move.kind === 'end' ? move.ending : (moved?.ending ?? null)
  const left = await use.events.take(attempt)
  await use.db.tx(async (tx) => {
    const entries = [...lostCalls(begun, claimed, move, said), ...entriesOf(begun, [meter])]
    if (ending === null) await goOn(use, tx, { live, moved, entries }, attempt, { left, nextNumber: numbers.next })
    else await end(use, tx, { loaded, live, moved, ending, entries }, attempt, { left, numbers })
    tx.afterCommit(() => settleTurns(use.limits, begun, [meter], entries))
  })
}

/** What earlier attempts of the same step told before they died. */
async function recover(db: Db<ResponsesTables>, id: string, claimed: Claimed) {
  const since = { nextNumber: claimed.next_number, nextOutputIndex: claimed.next_output_index }
  const lines: string[] = []
  for (let at = since.nextNumber - 1; ;) {
    const batches = await listEventsAfter(db, id, at, eventRowsPage)
    for (const { first, lines: told } of batches) lines.push(...told.split('\n').slice(Math.max(0, at + 1 - first)))
    at = batches.at(-1)?.last ?? at
    if (batches.length < eventRowsPage) return { told: toldBy(lines, since), said: charsSaid(lines) }
  }
}

/** Model calls of earlier attempts of this step: cut off, and counted from the events that they had stored. */
function lostCalls({ metering, asked, turns }: LiveResponse, claimed: Claimed, move: Move, said: number): UsageEntry[] {
  if (metering === null || (move.kind !== 'turn' && move.kind !== 'compact')) return []
  const lost = claimed.attempt - claimed.committed_attempt - 1
  return Array.from({ length: Math.min(lost, attemptsLostMax) }, (_one, at) =>
    usageEntry(metering, asked.model, turns, { outcome: 'interrupted', tokens: cutOff(at === 0 ? said : 0) }),
  )
}

async function goOn(
  use: TakeStepUses,
  tx: Tx,
  { live, moved, entries }: { live: LiveResponse; moved: Moved | null; entries: readonly UsageEntry[] },
  { responseId: id, attempt }: AttemptLog,
  { left, nextNumber }: { left: readonly EventBatch[]; nextNumber: number },
): Promise<void> {
  const rows = await advanceStep(tx, id, attempt, {
    nextNumber,
    nextOutputIndex: live.nextOutputIndex,
    usage: live.usage,
  })
  fenced(rows)
  await insertEvents(tx, left)
  await use.limits.record(tx, entries)
  await appendOutput(tx, live.projectId, id, moved?.items ?? [])
  for (const row of rows) await use.submitStep(tx, { id, ...row })
  tx.afterCommit(() => use.announce(left))
}

interface Ended {
  readonly loaded: Loaded
  readonly live: LiveResponse
  readonly moved: Moved | null
  readonly ending: Ending
  readonly entries: readonly UsageEntry[]
}

async function end(
  use: TakeStepUses,
  tx: Tx,
  { loaded, live, moved, ending, entries }: Ended,
  { responseId: id, attempt }: AttemptLog,
  { left, numbers }: { left: readonly EventBatch[]; numbers: EventNumbers },
): Promise<void> {
  const { accepted, createdAt } = loaded
  const row = await closeResponse(use, tx, {
    id,
    conversationId: accepted.conversationId,
    holder: { attempt },
    ending,
    usage: live.usage,
    entries,
    newItems: moved?.items ?? [],
    input: accepted.input,
    output: live.output,
  })
  if (row === null) throw new Superseded('another attempt has taken this work over')
  const state = stateOf(accepted, live, createdAt, { ending, at: row.ended_at })
  const last = numbers.number(terminalEventOf(state))
  const { sequence_number: number } = last
  const batches = [...left, { responseId: id, first: number, last: number, lines: JSON.stringify(last) }]
  await insertEvents(tx, batches)
  await use.startNext(tx, live.projectId)
  tx.afterCommit(() => use.announce(batches))
  tx.afterCommit(() => leaveShell(use, id, live.asked.shellPlace, 'ended'))
}
