import type { StreamEventBody } from '@switchyard/contracts/responses/stream.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { abandoned, after, type Ending, type LiveResponse } from '../domain/live-response.ts'
import { TurnMeter } from '../domain/metering.ts'
import { nextMove, type Move } from '../domain/next-move.ts'
import { responseView, type ResponseState } from '../domain/response-view.ts'
import { terminalEventOf } from '../domain/terminal-event.ts'
import type { Accepted } from './accept.ts'
import { stateOf } from './close-response.ts'
import { makeMove, type MoveUses } from './make-move.ts'

export interface InlineRun {
  readonly accepted: Accepted
  readonly createdAt: Date
  /** Whether anybody listens to the events. */
  readonly tell: boolean
  /** False: it is accepted and ends at once, so that a later one can continue it. */
  readonly generate: boolean
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  /** A turn is over and the response goes on: what it used is written down at once. False: it is left to `close`. */
  turnOver?(meter: TurnMeter): Promise<boolean>
  /** Commits the end. Returns when it ended, or null when somebody else had ended it. */
  close(live: LiveResponse, ending: Ending, meters: readonly TurnMeter[]): Promise<Date | null>
}

/** How it ended, with what made it fail. */
export interface InlineResult {
  readonly state: ResponseState
  readonly cause: unknown
}

const prepared: Move = { kind: 'end', ending: { status: 'completed' } }

const ours: Ending = { status: 'failed', error: { code: 'server_error', message: 'Something went wrong on our side.' } }

/**
 * Runs a response from its first move to its end in this process. Events come out as fast as they are taken, no faster:
 * a slow reader slows its own provider down and nobody else's.
 */
export async function* runInline(
  use: MoveUses & { readonly log: Log },
  run: InlineRun,
): AsyncGenerator<readonly StreamEventBody[], InlineResult> {
  const { accepted, createdAt, tell, signal } = run
  let live = accepted.live
  let closed = false
  const meters: TurnMeter[] = []
  const view = (ended: { ending: Ending; at: Date } | null) => stateOf(accepted, live, createdAt, ended)
  const close = async (ending: Ending): Promise<ResponseState> => {
    const at = await run.close(live, ending, meters)
    closed = true
    // Ended by another hand: a sweep took this node for dead. What the client is told is what is stored.
    return view(at === null ? { ending: abandoned, at: createdAt } : { ending, at })
  }
  try {
    if (tell) {
      const response = responseView(view(null))
      yield [
        { type: 'response.created', response },
        { type: 'response.in_progress', response },
      ]
    }
    for (;;) {
      const move = run.generate
        ? nextMove(live, (at) => use.context.tokens(at.projectId, at.asked, [...at.context, ...at.output]))
        : prepared
      let ending = move.kind === 'end' ? move.ending : null
      if (move.kind !== 'end') {
        const meter = new TurnMeter(live.turns)
        meters.push(meter)
        const moved = yield* makeMove(use, live, move, { tell, signal, endOnAbort: true, meter })
        live = after(live, moved)
        ending = moved.ending
        if (ending === null && (await run.turnOver?.(meter)) === true) meters.pop()
      }
      if (ending === null) continue
      const state = await close(ending)
      if (tell) yield [terminalEventOf(state)]
      return { state, cause: ending.status === 'failed' ? ending.cause : undefined }
    }
  } catch (error) {
    if (closed) throw error
    use.log.error({ err: error, responseId: live.id }, 'a response failed')
    const state = await close(ours)
    if (!tell) throw error
    yield [terminalEventOf(state)]
    return { state, cause: error }
  } finally {
    // The reader left between two events.
    if (!closed) await close({ status: 'cancelled' })
  }
}
