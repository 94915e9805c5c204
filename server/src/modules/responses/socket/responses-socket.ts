import type { WebSocket } from 'ws'
import type { Charged } from '#modules/limits/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { faultReply } from '#platform/http/fault-reply.ts'
import type { SocketSession } from '#platform/http/websocket.ts'
import { bounded, TimedOut } from '#platform/std/clock.ts'
import { FrameSender } from './frame-sender.ts'
import { KeptContexts, type ContextBudget } from './kept-contexts.ts'
import { Lanes } from './lanes.ts'
import { noSuchEvent, readFrame, type Frame } from './read-frame.ts'
import { runCreate, type RunCreateUses } from './run-create.ts'
import { errorEvent, inLane, steerFailed } from './socket-events.ts'

export interface ResponsesSocketUses extends RunCreateUses {
  readonly budget: ContextBudget
  /** Largest event that is read. */
  readonly bodyBytesMax: number
  readonly socketLifetimeMs: number
  readonly socketStallMs: number
}

/** Past the lifetime of its socket, a response that runs has this long to end. */
const lastWordsMs = 60_000
const normalClosure = 1000
const tryAgainLater = 1013

/** One client that creates responses over one connection. */
export class ResponsesSocket implements SocketSession {
  readonly #use: ResponsesSocketUses
  readonly #socket: WebSocket
  readonly #who: Charged
  readonly #contexts: KeptContexts
  readonly #lanes = new Lanes()
  readonly #sender: FrameSender
  readonly #turns = new Set<AbortController>()
  readonly #lifetime: NodeJS.Timeout
  /** Why nothing more is begun; null while it is. */
  #leaving: Fault | null = null

  constructor(use: ResponsesSocketUses, socket: WebSocket, who: Charged) {
    this.#use = use
    this.#socket = socket
    this.#who = who
    this.#contexts = new KeptContexts(use.budget)
    this.#sender = new FrameSender(socket, {
      stallMs: use.socketStallMs,
      onStalled: () => void this.cut(tryAgainLater, 'the client does not read'),
    })
    this.#lifetime = setTimeout(() => void this.#expire(), use.socketLifetimeMs)
    socket.on('message', (data: Buffer, isBinary) => this.#take(data, isBinary))
    socket.once('close', () => this.#end())
  }

  /** Lets what runs come to its end, and begins nothing more. */
  drain(): Promise<void> {
    return this.#leave(new Fault('server_overloaded', 'This node is going away: connect again.', goingAway))
  }

  /** Ends it at once, with everything that runs. Resolves when that has ended. */
  async cut(code: number, reason: string): Promise<void> {
    this.#socket.close(code, reason)
    this.#end()
    await this.#lanes.idle()
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    let frame: Frame
    try {
      frame = readFrame(data, isBinary, this.#use.bodyBytesMax)
    } catch (error) {
      // In turn as well: out of turn, its error would seem to be about the response that runs.
      return this.#queue(undefined, 0, async () => {
        throw error
      })
    }
    if (frame.type === 'response.steer') this.#sender.send(inLane(steerFailed(frame.value), frame.streamId))
    else this.#queue(frame.streamId, data.length, () => this.#carryOut(frame))
  }

  #queue(streamId: string | undefined, bytes: number, work: () => Promise<void>): void {
    const refuse = (error: unknown) => this.#refuse(error, streamId)
    if (this.#leaving !== null) return refuse(this.#leaving)
    const turn = () => work().catch(refuse)
    const excess = this.#lanes.add(streamId ?? '', turn, () => refuse(this.#leaving), bytes)
    if (excess !== null) refuse(new Fault('rate_limit_exceeded', excess))
  }

  async #carryOut(frame: Frame): Promise<void> {
    if (frame.type !== 'response.create') throw noSuchEvent()
    const startedAt = performance.now()
    const { previous_response_id: previous } = frame.value
    const gone = new AbortController()
    this.#turns.add(gone)
    let status: string | undefined = 'refused'
    let responseId: string | undefined
    try {
      const place = { who: this.#who, contexts: this.#contexts, sender: this.#sender, signal: gone.signal }
      const state = await runCreate(this.#use, frame, place)
      status = state?.status ?? 'cancelled'
      responseId = state?.id
    } finally {
      this.#turns.delete(gone)
      // A chain that failed is not continued from memory. (Open Responses, WebSocket transport)
      if ((status === 'refused' || status === 'failed') && typeof previous === 'string') this.#contexts.forget(previous)
      const ms = Math.round(performance.now() - startedAt)
      this.#use.log.info({ requestId: this.#who.requestId, responseId, status, ms }, 'socket response')
    }
  }

  #refuse(error: unknown, streamId: string | undefined): void {
    const reply = faultReply(error, this.#who.requestId)
    if (reply.ours && error !== this.#leaving) {
      this.#use.log.error({ err: error, requestId: this.#who.requestId }, 'a socket event failed')
    }
    this.#sender.send(inLane(errorEvent(reply), streamId))
  }

  async #expire(): Promise<void> {
    const minutes = Math.round(this.#use.socketLifetimeMs / 60_000)
    const limit = new Fault(
      'websocket_connection_limit_reached',
      `A connection lasts ${minutes} minutes: open another one.`,
    )
    try {
      await bounded(lastWordsMs, () => this.#leave(limit))
    } catch (error) {
      if (!(error instanceof TimedOut)) throw error
    }
    this.#refuse(limit, undefined)
    await this.cut(normalClosure, 'connection limit reached')
  }

  async #leave(because: Fault): Promise<void> {
    this.#leaving ??= because
    this.#lanes.dropWaiting()
    await this.#lanes.idle()
  }

  #end(): void {
    clearTimeout(this.#lifetime)
    this.#leaving ??= new Fault('server_overloaded', 'The connection is closing.', goingAway)
    this.#lanes.dropWaiting()
    for (const turn of this.#turns) turn.abort()
    this.#sender.end()
    this.#contexts.clear()
  }
}

const goingAway = { retryAfterMs: 1_000 }
