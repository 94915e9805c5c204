import { createServer } from 'node:http2'
import type { Http2Server, Http2ServerRequest, ServerHttp2Session } from 'node:http2'
import { Server as NetServer } from 'node:net'
import { createEndpointHandler } from '@restatedev/restate-sdk'
import type { EndpointOptions } from '@restatedev/restate-sdk'
import { assert } from '../std/assert.ts'
import { sleep } from '../std/clock.ts'
import type { Log } from '../telemetry/log.ts'
import { Places } from './places.ts'
import type { EngineService } from './services.ts'

export interface StepServerOptions {
  readonly services: readonly EngineService[]
  readonly log: Log
  /** Steps worked on at once; more wait for a place. */
  readonly stepsMax: number
  readonly host: string
  /** All workers of a machine share it. 0 lets the system choose. */
  readonly port: number
  /** Public keys of the engine. Requests that it has not signed are refused. */
  readonly identityKeys: readonly string[]
}

/**
 * Not below what the engine puts on one connection (its setting `http2-streams-per-connection-limit`, 128): it fills a new
 * connection before it has heard of our number, and what is refused then counts as a failed attempt.
 */
const streamsPerConnectionMax = 128
/** With the number above, the bound on what can wait here; the engine sends 1,000 a partition by default. */
const connectionsMax = 256

type EndpointLogger = NonNullable<EndpointOptions['logger']>

/** The worker's side of the engine: HTTP/2 without TLS, for a private network, signed requests only. */
export class StepServer {
  readonly #options: StepServerOptions
  readonly #server: Http2Server
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #places: Places
  #draining = false

  constructor(options: StepServerOptions) {
    assert(options.identityKeys.length > 0, 'the step server needs the public key of the engine')
    this.#options = options
    this.#places = new Places(options.stepsMax)
    const endpoint = createEndpointHandler({
      services: options.services.map(({ definition }) => definition),
      identityKeys: [...options.identityKeys],
      logger: logThrough(options.log),
    })
    this.#server = createServer(
      { settings: { maxConcurrentStreams: streamsPerConnectionMax } },
      (request, response) => {
        // A cut connection is reported to the step through its signal; without a listener it would end the process.
        request.on('error', () => {})
        response.on('error', () => {})
        if (request.url.startsWith('/invoke/')) void this.#inPlace(request, () => endpoint(request, response))
        else endpoint(request, response)
      },
    )
    this.#server.maxConnections = connectionsMax
    this.#server.on('session', (session) => {
      this.#sessions.add(session)
      if (this.#draining) leaveNoRoom(session)
      session.once('close', () => this.#sessions.delete(session))
    })
    this.#server.on('sessionError', (err) => options.log.debug({ err }, 'engine connection failed'))
  }

  async #inPlace(request: Http2ServerRequest, serve: () => void): Promise<void> {
    const closed = new AbortController()
    request.stream.once('close', () => closed.abort())
    if (!(await this.#places.take(closed.signal))) return
    if (closed.signal.aborted) return this.#places.free()
    closed.signal.addEventListener('abort', () => this.#places.free(), { once: true })
    serve()
  }

  /** Resolves with the port once it listens. */
  async listen(): Promise<number> {
    const { host, port, log } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port, reusePort: true }, resolve)
    })
    this.#server.removeAllListeners('error')
    this.#server.on('error', (err) => log.error({ err }, 'step server failed'))
    const address = this.#server.address()
    assert(typeof address === 'object' && address !== null, 'a listening server has an address')
    return address.port
  }

  /** Takes no further steps; those in hand may end within the bound. The engine goes to another worker meanwhile. */
  async drain(boundMs: number): Promise<void> {
    this.#draining = true
    this.#stopListening()
    // Not GOAWAY: the engine drops a connection that said it, and with it every step still running there. A connection
    // without room is left alone until its steps have ended.
    for (const session of this.#sessions) leaveNoRoom(session)
    const bound = new AbortController()
    await Promise.race([this.#places.idle(), sleep(boundMs, bound.signal)])
    bound.abort()
  }

  /** Cuts what is left. The engine tries those steps again elsewhere. */
  async stop(): Promise<void> {
    this.#stopListening()
    for (const session of this.#sessions) session.destroy()
  }

  // The HTTP/2 server's own `close` would say GOAWAY.
  #stopListening(): void {
    if (this.#server.listening) NetServer.prototype.close.call(this.#server)
  }
}

// A session on its way out may still be listed, and throws when it is spoken to.
function leaveNoRoom(session: ServerHttp2Session): void {
  if (!session.destroyed && !session.closed) session.settings({ maxConcurrentStreams: 0 })
}

// We log every step ourselves; what the SDK says besides is for someone who looks for a fault in it.
function logThrough(log: Log): EndpointLogger {
  return ({ level, context }, message) => {
    const text = String(message).slice(0, 500)
    if (level.valueOf() === 'error' || level.valueOf() === 'warn') {
      log.debug({ invocationId: context?.invocationId, text }, 'engine sdk')
    }
  }
}
