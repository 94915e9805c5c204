import type { Auth, Operation } from '@switchyard/contracts/operation.ts'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { Fault } from '#platform/errors/fault.ts'
import { newRequestId } from '#platform/std/ids.ts'
import type { AccessLogUse } from './access-log.ts'
import { authorize } from './authorize.ts'
import type { Connections } from './connections.ts'
import { faultReply } from './fault-reply.ts'
import type { Authenticate, ScopeOf } from './principal.ts'
import { readQuery } from './query.ts'
import { sendRaw } from './raw-reply.ts'
import { watchSocket } from './socket-watch.ts'
import { noSuchPath } from './unknown-path.ts'

/** A frame larger than this ends the socket with 1009. */
const frameBytesMax = 16 * 1024 * 1024
const goingAway = 1001
const internalError = 1011
const switchingProtocols = 101

export interface SocketContext<O extends Operation> {
  readonly scope: ScopeOf<O['auth']>
  readonly query: unknown
  readonly requestId: string
}

/** What a route keeps of a socket while it is open. */
export interface SocketSession {
  /** Finishes what is in hand and begins nothing more; the socket is closed when it resolves. */
  drain(): Promise<void>
}

export interface SocketRoute {
  readonly operation: Operation
  readonly open: (socket: WebSocket, context: SocketContext<Operation>) => SocketSession | void
}

/** Binds a GET operation to a socket. Authentication, scope and query are checked before the upgrade. */
export function socketRoute<O extends Operation & { auth: Auth }>(
  operation: O,
  open: (socket: WebSocket, context: SocketContext<O>) => SocketSession | void,
): SocketRoute {
  return { operation, open: open as unknown as SocketRoute['open'] }
}

export interface Sockets {
  /** Takes the upgrades of one listener. */
  attach(server: Server): void
  /** Tells every client that this node is going away, once what it waits for has ended; no further socket is opened. */
  closeAll(): void
  readonly open: number
}

export interface SocketsUse extends AccessLogUse {
  readonly routes: readonly SocketRoute[]
  readonly authenticate: Authenticate
  readonly connections: Connections
  readonly socketsMax: number
}

interface Admitted {
  readonly route: SocketRoute
  readonly context: SocketContext<Operation>
}

export function createSockets(use: SocketsUse): Sockets {
  const server = new WebSocketServer({ noServer: true, maxPayload: frameBytesMax, clientTracking: true })
  const byPath = new Map(use.routes.map((route) => [route.operation.path, route]))
  const sessions = new WeakMap<WebSocket, SocketSession>()
  let admitting = 0

  async function admit(request: IncomingMessage, requestId: string): Promise<Admitted> {
    const url = request.url ?? ''
    const at = url.indexOf('?')
    const route = byPath.get(at < 0 ? url : url.slice(0, at))
    if (route === undefined) throw noSuchPath()
    if (server.clients.size + admitting > use.socketsMax) throw full('This node has no room for another socket.')
    const scope = await authorize(route.operation, request.headers, use.authenticate)
    const query = readQuery(route.operation, at < 0 ? '' : url.slice(at + 1))
    if (use.connections.closing) throw full('This node is going away.')
    return { route, context: { scope, query, requestId } }
  }

  function open(client: WebSocket, { route, context }: Admitted): void {
    const { scope, requestId } = context
    const startedAt = performance.now()
    const line = { requestId, operation: route.operation.id, status: switchingProtocols, keyId: scope.keyId }
    use.log.info(line, 'socket open')
    client.on('error', (err) => use.log.debug({ err, requestId }, 'socket error'))
    client.on('close', (code) => {
      const ms = performance.now() - startedAt
      use.observe(route.operation.id, switchingProtocols, ms / 1_000)
      use.log.info({ ...line, code, ms: Math.round(ms) }, 'socket closed')
    })
    watchSocket(client)
    try {
      const session = route.open(client, context)
      if (session !== undefined) sessions.set(client, session)
    } catch (err) {
      use.log.error({ err, requestId }, 'socket failed to open')
      client.close(internalError, 'internal error')
    }
  }

  async function leave(client: WebSocket): Promise<void> {
    try {
      await sessions.get(client)?.drain()
    } catch (err) {
      use.log.error({ err }, 'socket failed to drain')
    }
    client.close(goingAway, 'server is going away')
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const requestId = newRequestId()
    socket.on('error', () => socket.destroy())
    use.connections.forget(socket as Socket)
    admitting += 1
    try {
      const admitted = await admit(request, requestId)
      const addId = (headers: string[]) => headers.push(`x-request-id: ${requestId}`)
      server.once('headers', addId)
      server.once('wsClientError', failed)
      server.handleUpgrade(request, socket, head, (client) => open(client, admitted))
      server.off('headers', addId).off('wsClientError', failed)
    } catch (error) {
      refuse(error)
    } finally {
      admitting -= 1
    }

    function failed({ message }: Error): void {
      refuse(new Fault('invalid_value', `The upgrade is malformed: ${message}.`))
    }

    function refuse(error: unknown): void {
      const reply = faultReply(error, requestId)
      if (reply.ours) use.log.error({ err: error, requestId }, 'socket upgrade failed')
      use.observe(byPath.get((request.url ?? '').split('?', 1)[0] ?? '')?.operation.id ?? 'unknown', reply.status, 0)
      sendRaw(socket, { ...reply, headers: { ...reply.headers, 'x-request-id': requestId } })
    }
  }

  return {
    attach(listener) {
      listener.on('upgrade', (request, socket, head) => void upgrade(request, socket, head))
    },
    closeAll() {
      for (const client of server.clients) void leave(client)
    },
    get open() {
      return server.clients.size
    },
  }
}

const full = (message: string) => new Fault('server_overloaded', message, { retryAfterMs: 1_000 })
