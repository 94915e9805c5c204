import { createServer } from 'node:http2'
import type { Http2Server, ServerHttp2Session } from 'node:http2'
import { Server as NetServer } from 'node:net'
import { createEndpointHandler } from '@restatedev/restate-sdk'
import type { EndpointOptions } from '@restatedev/restate-sdk'
import { assert } from '../std/assert.ts'
import { sleep } from '../std/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { EngineService } from './services.ts'
import type { StepRunner } from './step-runner.ts'

export interface StepServerOptions {
  readonly services: readonly EngineService[]
  readonly runner: StepRunner
  readonly log: Log
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

type EndpointLogger = NonNullable<EndpointOptions['logger']>

/** The worker's side of the engine: HTTP/2 without TLS, for a private network, signed requests only. */
export class StepServer {
  readonly #options: StepServerOptions
  readonly #server: Http2Server
  readonly #sessions = new Set<ServerHttp2Session>()
  #draining = false

  constructor(options: StepServerOptions) {
    assert(options.identityKeys.length > 0, 'the step server needs the public key of the engine')
    this.#options = options
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
        endpoint(request, response)
      },
    )
    this.#server.on('session', (session) => {
      this.#sessions.add(session)
      if (this.#draining) session.settings({ maxConcurrentStreams: 0 })
      session.once('close', () => this.#sessions.delete(session))
    })
    this.#server.on('sessionError', (err) => options.log.debug({ err }, 'engine connection failed'))
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
    for (const session of this.#sessions) session.settings({ maxConcurrentStreams: 0 })
    const bound = new AbortController()
    await Promise.race([this.#options.runner.idle(), sleep(boundMs, bound.signal)])
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

// We log every step ourselves; what the SDK says besides is for someone who looks for a fault in it.
function logThrough(log: Log): EndpointLogger {
  return ({ level, context }, message) => {
    const text = String(message).slice(0, 500)
    if (level.valueOf() === 'error' || level.valueOf() === 'warn') {
      log.debug({ invocationId: context?.invocationId, text }, 'engine sdk')
    }
  }
}
