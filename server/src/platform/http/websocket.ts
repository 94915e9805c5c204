import type { Auth, Operation } from '@switchyard/contracts/operation.ts'
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { newRequestId } from '#platform/std/ids.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { authorize } from './authorize.ts'
import { faultReply } from './fault-reply.ts'
import type { Authenticate, ScopeOf } from './principal.ts'
import { parseQuery } from './query.ts'
import { validate } from './validate.ts'
import { Fault } from '#platform/errors/fault.ts'

/** A frame larger than this ends the socket with 1009. */
const frameBytesMax = 16 * 1024 * 1024
const goingAway = 1001

export interface SocketContext<O extends Operation> {
  readonly scope: ScopeOf<O['auth']>
  readonly query: unknown
  readonly requestId: string
}

export interface SocketRoute {
  readonly operation: Operation
  readonly open: (socket: WebSocket, context: SocketContext<Operation>) => void
}

/** Binds a GET operation to a socket. Authentication, scope and query are checked before the upgrade. */
export function socketRoute<O extends Operation & { auth: Auth }>(
  operation: O,
  open: (socket: WebSocket, context: SocketContext<O>) => void,
): SocketRoute {
  return { operation, open: open as unknown as SocketRoute['open'] }
}

export interface Sockets {
  /** Takes the upgrades of one listener. */
  attach(server: Server): void
  /** Tells every client that this node is going away. */
  closeAll(): void
  readonly open: number
}

export interface SocketsUse {
  readonly routes: readonly SocketRoute[]
  readonly authenticate: Authenticate
  readonly log: Log
  readonly socketsMax: number
}

export function createSockets(use: SocketsUse): Sockets {
  const server = new WebSocketServer({ noServer: true, maxPayload: frameBytesMax, clientTracking: true })
  const byPath = new Map(use.routes.map((route) => [route.operation.path, route]))

  async function admit(request: IncomingMessage): Promise<{ route: SocketRoute; context: SocketContext<Operation> }> {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2)
    const route = byPath.get(path)
    if (route === undefined) throw new Fault('not_found', 'There is no such path.')
    if (server.clients.size >= use.socketsMax)
      throw new Fault('server_overloaded', 'This node has no room for another socket.', { retryAfterMs: 1_000 })
    const scope = await authorize(route.operation, request.headers, use.authenticate)
    const parsed = route.operation.query === undefined ? undefined : validate(route.operation.query, parseQuery(query))
    return { route, context: { scope, query: parsed, requestId: newRequestId() } }
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    try {
      const { route, context } = await admit(request)
      server.handleUpgrade(request, socket, head, (client) => {
        client.on('error', (err) => use.log.debug({ err, requestId: context.requestId }, 'socket error'))
        route.open(client, context)
      })
    } catch (error) {
      refuse(socket, error, use.log)
    }
  }

  return {
    attach(listener) {
      listener.on(
        'upgrade',
        (request: IncomingMessage, socket: Duplex, head: Buffer) => void upgrade(request, socket, head),
      )
    },
    closeAll() {
      for (const client of server.clients) client.close(goingAway, 'server is going away')
    },
    get open() {
      return server.clients.size
    },
  }
}

function refuse(socket: Duplex, error: unknown, log: Log): void {
  const requestId = newRequestId()
  const reply = faultReply(error, requestId)
  if (reply.ours) log.error({ err: error, requestId }, 'socket upgrade failed')
  const body = JSON.stringify(reply.body)
  const headers = {
    ...reply.headers,
    'x-request-id': requestId,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end(`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
}
