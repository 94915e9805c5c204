import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net'
import type { Log } from '#platform/telemetry/log.ts'
import type { Connections } from './connections.ts'

export interface ListenerTimes {
  /** How long the headers of a request may take to arrive. */
  readonly headersTimeoutMs: number
  /** How long a whole request may take to arrive. */
  readonly requestTimeoutMs: number
}

export interface ListenerUse extends ListenerTimes {
  readonly handle: RequestListener
  readonly onClientError: (error: Error, socket: Socket) => void
  readonly connections: Connections
  readonly connectionsMax: number
  readonly log: Log
}

export interface Listen {
  readonly host: string
  readonly port: number
  /** Several api nodes of one machine share one port. */
  readonly reusePort?: boolean
}

/** Above the 60 s that balancers in front usually keep a connection for: it is theirs to close first. */
const keepAliveMs = 72_000
/** Nothing read or written for this long, on either side, and the connection ends. Above an SDK's ten minutes. */
const idleSocketMs = 15 * 60_000
const tlsHandshakeMs = 10_000
const timesCheckedEveryMs = 5_000

/** A listener of HTTP, or of HTTPS when given a certificate, with every wait bounded. */
export function openListener(use: ListenerUse, tls?: { cert: string; key: string }): Server {
  const options: ServerOptions = {
    headersTimeout: use.headersTimeoutMs,
    requestTimeout: use.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(timesCheckedEveryMs, use.headersTimeoutMs / 2),
    keepAliveTimeout: keepAliveMs,
    // Answered by us, in the shape of every other fault.
    requireHostHeader: false,
    // A request without a body begins as a stream that has ended: a sixth of the cost of a small GET.
    optimizeEmptyRequests: true,
    // Some clients offer HTTP/2 on every request. Only a WebSocket takes a connection away from HTTP/1.1.
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
  }
  const server: Server =
    tls === undefined
      ? createServer(options, use.handle)
      : createTlsServer({ ...options, ...tls, handshakeTimeout: tlsHandshakeMs }, use.handle)
  server.timeout = idleSocketMs
  server.maxConnections = use.connectionsMax
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => use.connections.opened(socket))
  server.on('clientError', (error, socket) => use.onClientError(error, socket as Socket))
  // An expectation that we do not know is no reason not to answer.
  server.on('checkExpectation', use.handle)
  return server
}

export async function listen(server: Server, at: Listen, log: Log): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: at.port, host: at.host, reusePort: at.reusePort === true }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  // Accepting may fail for a while (no file descriptor left, say). That is for the log, and not the end of the process.
  server.on('error', (err) => log.error({ err }, 'a listener failed'))
  return server.address() as AddressInfo
}

/** Resolves when every connection has ended. */
export function closeListener(server: Server): Promise<void> {
  // The HTTP server's own `close` would cut idle connections at once.
  return new Promise((resolve) => void NetServer.prototype.close.call(server, () => resolve()))
}
