import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Log } from '#platform/telemetry/log.ts'
import { newRequestId } from '#platform/std/ids.ts'
import { addCors } from './cors.ts'
import { faultReply } from './fault-reply.ts'
import { parseJsonBody } from './json-body.ts'
import { mountRoute, type MountUse } from './mount.ts'
import { answerUnknownPath } from './unknown-path.ts'
import type { Route } from './route.ts'
import { createSockets, type SocketRoute } from './websocket.ts'

export interface HttpServerOptions {
  readonly corsOrigins: readonly string[]
  /** Largest JSON body. Multipart operations bound their own parts. */
  readonly bodyBytesMax: number
  /** How long a whole request may take to arrive. */
  readonly requestTimeoutMs: number
  readonly connectionsMax: number
  readonly socketsMax: number
}

export interface HttpServerUse extends Omit<MountUse, 'bodyBytesMax'> {
  readonly routes: readonly Route[]
  readonly sockets: readonly SocketRoute[]
  readonly options: HttpServerOptions
  /** One line and one measurement a request. */
  readonly observe: (operation: string, status: number, seconds: number) => void
}

export interface Listen {
  readonly host: string
  readonly port: number
  /** Several api nodes of one machine share one port. */
  readonly reusePort?: boolean
}

export interface HttpServer {
  listen(at: Listen): Promise<AddressInfo>
  listenTls(at: Listen, tls: { cert: string; key: string }): Promise<AddressInfo>
  /** Stops accepting, tells sockets, and waits for requests in hand. */
  close(): Promise<void>
}

const headersTimeoutMs = 15_000
const keepAliveMs = 72_000
const paramMax = 128

export function createHttpServer(use: HttpServerUse): HttpServer {
  const app = openFastify(use)
  const sockets = createSockets({ ...use, routes: use.sockets, socketsMax: use.options.socketsMax })
  let tlsServer: TlsServer | null = null
  return {
    async listen(at) {
      app.server.maxConnections = use.options.connectionsMax
      sockets.attach(app.server)
      await app.ready()
      await new Promise<void>((resolve, reject) => {
        app.server.once('error', reject)
        app.server.listen({ port: at.port, host: at.host, reusePort: at.reusePort === true }, resolve)
      })
      return app.server.address() as AddressInfo
    },
    async listenTls(at, tls) {
      await app.ready()
      const server = createTlsServer(tls, (request, response) => app.routing(request, response))
      tlsServer = server
      server.headersTimeout = headersTimeoutMs
      server.requestTimeout = use.options.requestTimeoutMs
      server.maxConnections = use.options.connectionsMax
      sockets.attach(server)
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen({ port: at.port, host: at.host, reusePort: at.reusePort === true }, resolve)
      })
      return server.address() as AddressInfo
    },
    async close() {
      sockets.closeAll()
      const tls = tlsServer
      const tlsClosed = tls === null ? undefined : new Promise<void>((resolve) => void tls.close(() => resolve()))
      tls?.closeIdleConnections()
      await app.close()
      await tlsClosed
    },
  }
}

function openFastify(use: HttpServerUse): FastifyInstance {
  const { options } = use
  const app = fastify({
    genReqId: newRequestId,
    logger: false,
    bodyLimit: options.bodyBytesMax,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: paramMax, querystringParser: (text: string) => ({ text }) },
    frameworkErrors: (error, request, reply) =>
      sendFault(error, request as FastifyRequest, reply as FastifyReply, use.log),
    clientErrorHandler(error, socket) {
      if (!socket.writable) return
      const { status, body } = faultReply(error, 'none')
      const text = JSON.stringify(
        status === 500
          ? { error: { message: 'Malformed HTTP request.', type: 'invalid_request_error', param: null, code: null } }
          : body,
      )
      socket.end(
        `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      )
    },
  })
  app.server.headersTimeout = headersTimeoutMs
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => {
    try {
      done(null, parseJsonBody(bytes as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  // Left on the wire: the route streams it.
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null, undefined))
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  addCors(app, options.corsOrigins)
  app.setErrorHandler((error, request, reply) => sendFault(error, request, reply, use.log))
  app.setNotFoundHandler(answerUnknownPath(use.routes.map((route) => route.operation)))
  app.addHook('onResponse', (request, reply, done) => {
    const operation = (request.routeOptions.config as { operation?: string }).operation ?? 'unknown'
    const ms = Math.round(reply.elapsedTime * 10) / 10
    const scope = request.getDecorator<{ keyId: string } | null>('scope')
    use.observe(operation, reply.statusCode, reply.elapsedTime / 1_000)
    use.log.info({ requestId: request.id, operation, status: reply.statusCode, ms, keyId: scope?.keyId }, 'request')
    done()
  })
  app.decorateRequest('scope', null)
  for (const route of use.routes) mountRoute(app, route, { ...use, bodyBytesMax: options.bodyBytesMax })
  return app
}

function sendFault(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): void {
  const fault = faultReply(error, request.id)
  if (fault.ours) log.error({ err: error, requestId: request.id }, 'request failed')
  // What is left of a body that was not read would be taken for the next request.
  if (!request.raw.complete) reply.header('connection', 'close')
  void reply
    .code(fault.status)
    .headers(fault.headers)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(fault.body))
}
