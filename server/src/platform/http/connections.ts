import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A request whose reply is not out yet. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly onEnd: () => void
  ended: boolean
}

/**
 * The open connections of all listeners and what is in hand on each. Node's own `close` leaves a connection open that
 * never sent a request, and one whose reply ends later, until the client or a time-out ends it: a drain would wait.
 */
export class Connections {
  readonly #open = new Map<Socket, Set<Exchange>>()
  #closing = false

  get closing(): boolean {
    return this.#closing
  }

  opened(socket: Socket): void {
    this.#open.set(socket, new Set())
    socket.once('close', () => {
      const exchanges = this.#open.get(socket)
      this.#open.delete(socket)
      // A reply that waits behind another one on its connection hears of the end from nobody else.
      for (const exchange of exchanges ?? []) end(exchange)
    })
  }

  /** An upgraded connection is no longer ours to end. */
  forget(socket: Socket): void {
    this.#open.delete(socket)
  }

  /** `onEnd` is called once, when the reply is out or its connection gone. */
  serve(request: IncomingMessage, response: ServerResponse, onEnd: () => void): void {
    const exchange: Exchange = { request, response, onEnd, ended: false }
    const exchanges = this.#open.get(request.socket)
    if (this.#closing) response.setHeader('connection', 'close')
    exchanges?.add(exchange)
    response.on('close', () => {
      exchanges?.delete(exchange)
      end(exchange)
      if (this.#closing && exchanges?.size === 0) request.socket.destroySoon()
    })
  }

  /** The request that is arriving on this connection, if one is. */
  arriving(socket: Socket): ServerResponse | null {
    for (const { request, response } of this.#open.get(socket) ?? []) if (!request.complete) return response
    return null
  }

  isBusy(socket: Socket): boolean {
    return (this.#open.get(socket)?.size ?? 0) > 0
  }

  /**
   * Ends each connection with its next reply, which says so, and after the grace those that nothing came in on. Cut at
   * once, they would meet requests already on their way, and an SDK does not send a streamed upload again.
   */
  drain(idleGraceMs: number): void {
    this.#closing = true
    for (const exchanges of this.#open.values()) {
      for (const { response } of exchanges) if (!response.headersSent) response.setHeader('connection', 'close')
    }
    if (idleGraceMs === 0) this.#endIdle()
    else setTimeout(() => this.#endIdle(), idleGraceMs).unref()
  }

  #endIdle(): void {
    for (const [socket, exchanges] of this.#open) if (exchanges.size === 0) socket.destroy()
  }
}

function end(exchange: Exchange): void {
  if (exchange.ended) return
  exchange.ended = true
  exchange.onEnd()
}
