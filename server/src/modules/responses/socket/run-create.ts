import type { CreateResponse } from '@switchyard/contracts/responses/request.ts'
import type { Admission, Charged } from '#modules/limits/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { newRequestId } from '#platform/std/ids.ts'
import { meteringFor } from '../domain/metering.ts'
import { EventNumbers } from '../domain/number-events.ts'
import type { ResponseState } from '../domain/response-view.ts'
import { accept, type Accepted, type AcceptUses } from '../steps/accept.ts'
import { beginInline, type ForegroundUses } from '../steps/foreground.ts'
import type { FrameSender } from './frame-sender.ts'
import type { KeptContexts } from './kept-contexts.ts'
import { readCreate, type Frame } from './read-frame.ts'
import { inLane } from './socket-events.ts'

export type RunCreateUses = AcceptUses & ForegroundUses

/** What a turn has of the socket it came over. */
export interface TurnPlace {
  /** Whom its responses are charged to; each is a request of its own. */
  readonly who: Omit<Charged, 'requestId'>
  readonly contexts: KeptContexts
  readonly sender: Pick<FrameSender, 'send' | 'full' | 'ready'>
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
}

/** Carries out a `response.create` to its last event. Null: the client left before. */
export async function runCreate(use: RunCreateUses, frame: Frame, place: TurnPlace): Promise<ResponseState | null> {
  const { contexts, sender, signal } = place
  // Counted before it is looked at: what is refused counts as well.
  const charged = { ...place.who, requestId: newRequestId() }
  const admission = await use.limits.admit(charged, 'responses', frame.value)
  const { accepted, moves } = await begin(use, frame, place, admission).finally(() => admission.leave())
  const numbers = new EventNumbers(0, accepted.live.asked.obfuscation)
  for (;;) {
    const next = await moves.next()
    if (next.done === true) {
      if (!signal.aborted) keep(contexts, frame, accepted, next.value.state)
      return next.value.state
    }
    for (const event of next.value) {
      if (sender.full && !(await sender.ready())) {
        await moves.return(undefined as never)
        return null
      }
      sender.send(inLane(numbers.number(event), frame.streamId))
    }
  }
}

async function begin(use: RunCreateUses, frame: Frame, { contexts, signal }: TurnPlace, admission: Admission) {
  const { body, generate } = readCreate(frame.value)
  refuseUnstored(body, contexts)
  const accepted = await accept(use, meteringFor(admission), body, (id) => contexts.find(id)?.items ?? null)
  const moves = await beginInline(use, accepted, { tell: true, generate, signal, commit: null })
  admission.handOver()
  return { accepted, moves }
}

/** As it would be read from the store: a conversation keeps its history itself. */
function keep(contexts: KeptContexts, { streamId = '' }: Frame, accepted: Accepted, state: ResponseState): void {
  if (state.status !== 'completed' && state.status !== 'incomplete') return
  const before = accepted.conversationId === null ? accepted.live.context : accepted.input
  contexts.keep(streamId, state.id, { items: [...before, ...state.output], stored: state.asked.store })
}

/** Kept for later without what came before it, a response would have lost its history unnoticed. */
function refuseUnstored({ store, previous_response_id: previous }: CreateResponse, contexts: KeptContexts): void {
  if (store === false || previous == null || contexts.find(previous)?.stored !== false) return
  throw new Fault(
    'invalid_value',
    `Response ${previous} is not stored, so a stored one cannot continue it: set store to false.`,
    { param: 'store' },
  )
}
