import { createResponse } from '@switchyard/contracts/responses/operations.ts'
import type { CreateResponse } from '@switchyard/contracts/responses/request.ts'
import type { Response } from '@switchyard/contracts/responses/response.ts'
import { httpFault } from '#modules/inference/index.ts'
import type { Admission } from '#modules/limits/index.ts'
import type { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { EventStream, type ServerEvent } from '#platform/http/sse.ts'
import { EventNumbers } from '../domain/number-events.ts'
import { responseView } from '../domain/response-view.ts'
import { meteringFor } from '../domain/metering.ts'
import { accept, type Accepted, type AcceptUses } from '../steps/accept.ts'
import { beginInline, type ForegroundUses } from '../steps/foreground.ts'
import { queueResponse, type QueueUses } from '../steps/queue-response.ts'
import type { runInline } from '../steps/run-inline.ts'
import { feedStream, type FeedStreamUses } from './feed-stream.ts'

export type CreateResponseUses = AcceptUses & ForegroundUses & QueueUses & FeedStreamUses

type Commit = <Reply>(decide: (tx: Tx) => Promise<Reply>) => Promise<Reply>

export const createResponseRoute = (use: CreateResponseUses) =>
  route(createResponse, async ({ body, request, passage, commit }) => {
    const keyed = request.header('idempotency-key') !== undefined
    if (keyed && body.stream === true) {
      throw new Fault('unsupported_value', 'A stream cannot be repeated: leave out the Idempotency-Key, or stream.', {
        param: 'stream',
      })
    }
    const admission = passage as Admission
    const accepted = await accept(use, meteringFor(admission), body)
    if (body.background === true) {
      const queued = await commit((tx) => queueResponse(use, tx, accepted))
      // From here on it goes on whether or not anybody listens, and its turns settle what was reserved.
      admission.handOver()
      return body.stream === true ? feedStream(use, accepted.live.id, -1, request.signal) : queued
    }
    return await inForeground(use, accepted, body, { admission, keyed, commit, signal: request.signal })
  })

interface Foregrounding {
  readonly admission: Admission
  readonly keyed: boolean
  readonly commit: Commit
  readonly signal: AbortSignal
}

async function inForeground(
  use: CreateResponseUses,
  accepted: Accepted,
  body: CreateResponse,
  { admission, keyed, commit, signal }: Foregrounding,
): Promise<Response | EventStream> {
  const tell = body.stream === true
  const moves = await beginInline(use, accepted, { tell, generate: true, signal, commit: keyed ? commit : null })
  admission.handOver()
  if (tell) return await streamed(use, moves, accepted, signal)
  const next = await moves.next()
  if (next.done !== true) throw new Error('a response that nobody listens to tells nothing')
  const { state, cause } = next.value
  refuse(cause)
  return responseView(state)
}

/** While nothing was sent, a failure that has a fault of its own is an HTTP error. */
function refuse(cause: unknown): void {
  const fault = httpFault(cause, 'input')
  if (fault instanceof Fault) throw fault
}

/** How long a stream waits for the first word, so that a provider's refusal can still be an HTTP error. */
const firstWordMs = 2_000

async function streamed(
  { log }: Pick<CreateResponseUses, 'log'>,
  moves: ReturnType<typeof runInline>,
  { live }: Accepted,
  signal: AbortSignal,
): Promise<EventStream> {
  // A client that leaves before the first event is read leaves nobody who would say so otherwise.
  const leave = () =>
    moves.return(undefined as never).catch((err: unknown) => {
      // The store is away. Whoever keeps this node's lease ends it later.
      log.warn({ err, responseId: live.id }, 'a response whose client left could not be ended yet')
    })
  signal.addEventListener('abort', () => void leave(), { once: true })
  const begun = await moves.next()
  const first = moves.next()
  const early = await Promise.race([first, timeUp(firstWordMs)])
  if (early?.done === false && early.value[0]?.type === 'response.failed') {
    const rest = await moves.next()
    const cause: unknown = rest.done === true ? rest.value.cause : null
    refuse(cause)
  }
  const numbers = new EventNumbers(0, live.asked.obfuscation)
  return new EventStream(
    (async function* told(): AsyncGenerator<ServerEvent> {
      try {
        for (const source of [begun, await first]) {
          if (source.done === true) return
          for (const body of source.value) yield { event: body.type, data: numbers.number(body) }
        }
        for await (const events of moves) {
          for (const body of events) yield { event: body.type, data: numbers.number(body) }
        }
      } finally {
        // Left in the middle of a lump: the response hears of it as well.
        await moves.return(undefined as never)
      }
    })(),
  )
}

function timeUp(ms: number): Promise<null> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, null).unref()
  })
}
