import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestFacts } from './route.ts'

/** What a route may ask about its request. The abort signal is made only when someone looks at it. */
export class Facts implements RequestFacts {
  readonly id: string
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  #gone: AbortController | null = null

  constructor(id: string, request: IncomingMessage, response: ServerResponse) {
    this.id = id
    this.#request = request
    this.#response = response
  }

  get signal(): AbortSignal {
    return (this.#gone ??= this.#watch()).signal
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  #watch(): AbortController {
    const gone = new AbortController()
    // A client may have left before anyone asked.
    if (this.#response.closed || this.#request.socket.destroyed) gone.abort()
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) gone.abort()
    })
    return gone
  }
}
