import type { Dispatcher } from 'undici'
import type { Place } from './pools.ts'
import { refusalOf } from './refusal-of.ts'
import { OutboundRefused } from './refused.ts'

/** Informational replies (103 and the like) that one request may bring before it is given up. */
const INFORMATIONAL_MAX = 8

const FIRST_ROOM_BYTES = 4096

export type ReplyHeaders = Record<string, string | string[] | undefined>

/** One request and its reply on one hop. */
export type Exchange = {
  url: URL
  method: string
  headers: Record<string, string>
  body: string | Uint8Array | null
  bytesMax: number
  overflow: 'truncate' | 'refuse'
  /** Ask the peer to close afterwards instead of keeping the connection. */
  closeAfter: boolean
}

export type ExchangeReply = {
  status: number
  headers: ReplyHeaders
  body: Buffer
  truncated: boolean
  connectedAt: number
  firstByteAt: number
}

/**
 * Sends one request and collects its reply within `bytesMax`. `stop` ends it early with a reason. The place is left when
 * the HTTP client has let go of the request, which can be after the promise has settled.
 */
export function exchange(place: Place, request: Exchange) {
  const collector = new ReplyCollector(request, place.leave)
  const { url, method, headers, body } = request
  const path = url.pathname + url.search
  place.pool.dispatch(
    { path, method, headers, body, reset: request.closeAfter, headersTimeout: 0, bodyTimeout: 0 },
    collector,
  )
  return { reply: collector.reply, stop: (reason: Error) => collector.stop(reason) }
}

class ReplyCollector implements Dispatcher.DispatchHandler {
  readonly reply: Promise<ExchangeReply>
  readonly #request: Exchange
  readonly #released: () => void
  readonly #resolve: (reply: ExchangeReply) => void
  readonly #reject: (error: Error) => void
  #controller: Dispatcher.DispatchController | undefined
  #stopped: Error | undefined
  #settled = false
  #informational = 0
  #status = 0
  #headers: ReplyHeaders = {}
  #room = Buffer.alloc(0)
  #bytes = 0
  #connectedAt = 0
  #firstByteAt = 0

  constructor(request: Exchange, released: () => void) {
    const { promise, resolve, reject } = Promise.withResolvers<ExchangeReply>()
    this.reply = promise
    this.#resolve = resolve
    this.#reject = reject
    this.#request = request
    this.#released = released
  }

  stop(reason: Error): void {
    this.#stopped ??= reason
    this.#controller?.abort(reason)
    this.#fail(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.#connectedAt = performance.now()
    // Stopped while it waited for a connection: nothing goes out.
    if (this.#stopped !== undefined) controller.abort(this.#stopped)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ReplyHeaders): void {
    if (status < 200) {
      this.#informational += 1
      if (this.#informational > INFORMATIONAL_MAX) controller.abort(tooLarge())
      return
    }
    this.#firstByteAt = performance.now()
    this.#status = status
    this.#headers = headers
    const announced = Number(headers['content-length'] ?? Number.NaN)
    if (this.#request.overflow === 'refuse' && this.#request.method !== 'HEAD' && announced > this.#request.bytesMax) {
      controller.abort(tooLarge())
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { bytesMax, overflow } = this.#request
    const fits = Math.min(chunk.length, bytesMax - this.#bytes)
    // Copied, because a chunk of one byte keeps the whole buffer of the socket alive.
    this.#makeRoom(this.#bytes + fits)
    chunk.copy(this.#room, this.#bytes, 0, fits)
    this.#bytes += fits
    if (fits === chunk.length) return
    if (overflow === 'truncate') this.#settle(true)
    controller.abort(tooLarge())
  }

  onResponseEnd(): void {
    this.#settle(false)
    this.#released()
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(this.#stopped ?? refusalOf(error, this.#connectedAt > 0))
    this.#released()
  }

  #settle(truncated: boolean): void {
    if (this.#settled) return
    this.#settled = true
    this.#resolve({
      status: this.#status,
      headers: this.#headers,
      body: this.#room.subarray(0, this.#bytes),
      truncated,
      connectedAt: this.#connectedAt,
      firstByteAt: this.#firstByteAt,
    })
  }

  #fail(error: Error): void {
    if (this.#settled) return
    this.#settled = true
    this.#reject(error)
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#room.length) return
    const room = Buffer.allocUnsafe(
      Math.min(this.#request.bytesMax, Math.max(bytes, FIRST_ROOM_BYTES, this.#room.length * 2)),
    )
    this.#room.copy(room, 0, 0, this.#bytes)
    this.#room = room
  }
}

function tooLarge(): OutboundRefused {
  return new OutboundRefused('too_large', 'The reply is larger than allowed.')
}
