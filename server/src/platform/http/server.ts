import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Fault } from '#platform/errors/fault.ts'
import { newRequestId } from '#platform/std/ids.ts'
import { logRequest, type AccessLogUse, type ServedRequest } from './access-log.ts'
import { answerClientError } from './client-error.ts'
import { Connections } from './connections.ts'
import { createCors } from './cors.ts'
import { parseJsonBody } from './json-body.ts'
import { closeListener, listen, openListener, type Listen } from './listener.ts'
import { mountRoute, type MountUse } from './mount.ts'
import { mountPages, type PagesUse } from './pages/mount-pages.ts'
import type { Route } from './route.ts'
import { sendFault } from './send-fault.ts'
import { unknownPaths } from './unknown-path.ts'
import { createSockets, type SocketRoute } from './websocket.ts'

export type { Listen } from './listener.ts'

export interface HttpServerOptions {
  readonly corsOrigins: readonly string[]
  /** Largest JSON body. Multipart operations bound their own parts. */
  readonly bodyBytesMax: number
  /** How long a whole request may take to arrive. */
  readonly requestTimeoutMs: number
  /** How long the headers of a request may take to arrive. */
  readonly headersTimeoutMs?: number
  readonly connectionsMax: number
  readonly socketsMax: number
  /** How long a close waits for a next request on idle connections, so that their clients hear of it. Default: not. */
  readonly idleGraceMs?: number
}

export interface HttpServerUse extends Omit<MountUse, 'bodyBytesMax'>, AccessLogUse {
  readonly routes: readonly Route[]
  readonly sockets: readonly SocketRoute[]
  /** What people see of this server in a browser. */
  readonly pages?: PagesUse
  readonly options: HttpServerOptions
}

export interface HttpServer {
  listen(at: Listen): Promise<AddressInfo>
  listenTls(at: Listen, tls: { cert: string; key: string }): Promise<AddressInfo>
  /** Stops accepting, tells sockets, and waits for requests in hand. */
  close(): Promise<void>
}

const usualHeadersTimeoutMs = 15_000
const paramMax = 128

export function createHttpServer(use: HttpServerUse): HttpServer {
  const { options, log } = use
  const connections = new Connections()
  const sockets = createSockets({ ...use, routes: use.sockets, connections, socketsMax: options.socketsMax })
  const onClientError = (error: Error, socket: Socket) => answerClientError(error, socket, connections, use)
  const listeners: Server[] = []
  const open = (handle: RequestListener, tls?: { cert: string; key: string }) => {
    const { requestTimeoutMs, headersTimeoutMs = usualHeadersTimeoutMs, connectionsMax } = options
    const times = { requestTimeoutMs, headersTimeoutMs: Math.min(headersTimeoutMs, requestTimeoutMs) }
    const listener = openListener({ ...times, handle, onClientError, connections, connectionsMax, log }, tls)
    sockets.attach(listener)
    listeners.push(listener)
    return listener
  }
  const app = openFastify(use, connections, open)
  let closed: Promise<void> | null = null

  async function end(): Promise<void> {
    sockets.closeAll()
    const ended = listeners.map(closeListener)
    connections.drain(options.idleGraceMs ?? 0)
    await Promise.all(ended)
    await app.close()
  }

  return {
    async listen(at) {
      await app.ready()
      return await listen(app.server, at, log)
    },
    async listenTls(at, tls) {
      await app.ready()
      return await listen(
        open((request, response) => app.routing(request, response), tls),
        at,
        log,
      )
    },
    close: () => (closed ??= end()),
  }
}

function openFastify(
  use: HttpServerUse,
  connections: Connections,
  open: (handle: RequestListener) => Server,
): FastifyInstance {
  const { options, log } = use
  const begin = (request: FastifyRequest, reply: FastifyReply) => {
    const served = request as ServedRequest
    served.startedAt = performance.now()
    connections.serve(request.raw, reply.raw, () => logRequest(use, request, reply))
    reply.header('x-request-id', request.id)
  }
  const app = fastify({
    genReqId: newRequestId,
    logger: false,
    bodyLimit: options.bodyBytesMax,
    serverFactory: (handle) => open(handle),
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: paramMax, querystringParser: (text: string) => text as never },
    // The listener answers these itself.
    clientErrorHandler: () => undefined,
    frameworkErrors: (error, request, reply) => {
      begin(request, reply)
      sendFault(error, request, reply, log)
    },
  })
  app.decorateRequest('scope', null)
  app.decorateRequest('startedAt', 0)
  app.decorateRequest('operation', 'unknown')
  readBodies(app)
  const cors = createCors(options.corsOrigins)
  const unknown = unknownPaths(
    use.routes.map((route) => route.operation),
    use.sockets.map((route) => route.operation),
  )
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply)
    if (cors?.(request, reply) === true) return
    if (request.is404) done(unknown(request.method, request.url))
    else if (lacksHost(request)) done(new Fault('invalid_value', 'The request has no Host header.'))
    else done()
  })
  app.setErrorHandler((error, request, reply) => sendFault(error, request, reply, log))
  for (const route of use.routes) mountRoute(app, route, { ...use, bodyBytesMax: options.bodyBytesMax })
  if (use.pages !== undefined) mountPages(app, { ...use.pages, log, tracing: use.tracing })
  return app
}

function lacksHost({ headers, raw }: FastifyRequest): boolean {
  return headers.host === undefined && raw.httpVersion === '1.1'
}

function readBodies(app: FastifyInstance): void {
  // As strict and as bounded as on any other method; a GET with `{}` is as good as one without.
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      const encoding = request.headers['content-encoding'] ?? 'identity'
      if (encoding !== 'identity') throw new Fault('unsupported_media_type', 'Send the body without Content-Encoding.')
      done(null, parseJsonBody(bytes as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  // Left on the wire: the route streams it.
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null, undefined))
}
