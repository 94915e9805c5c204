import { readFile } from 'node:fs/promises'
import { required } from '#platform/config/load.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import { createIdempotency } from '#platform/http/idempotency.ts'
import { createSessions } from '#platform/http/pages/sessions.ts'
import { createHttpServer, type HttpServer } from '#platform/http/server.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Wired } from '../wiring.ts'

/** A client in use sends its next request within this, and learns from the reply that the connection ends. */
const idleGraceMs = 1_000

/** The listeners of the public API. */
export function apiParts(wired: Wired): Part[] {
  const { settings, log } = wired
  const server = openServer(wired)
  return [
    ...wired.responses.parts,
    {
      name: 'http',
      async start() {
        const at = { host: settings.httpHost, reusePort: settings.httpReusePort }
        const address = await server.listen({ ...at, port: settings.httpPort })
        log.info({ port: address.port }, 'public listener up')
        if (settings.tlsPort === 0) return
        const { tlsCertFile, tlsKeyFile } = required(settings, 'tlsCertFile', 'tlsKeyFile')
        const tls = { cert: await readFile(tlsCertFile, 'utf8'), key: await readFile(tlsKeyFile, 'utf8') }
        await server.listenTls({ ...at, port: settings.tlsPort }, tls)
      },
      drain: () => server.close(),
      ready: async () => ({ ok: true }),
    },
  ]
}

function openServer({
  settings,
  publicUrl,
  log,
  metrics,
  tracing,
  db,
  sealer,
  orgs,
  files,
  webhooks,
  containers,
  inference,
  limits,
  responses,
  batches,
  evals,
}: Wired): HttpServer {
  const seconds = metrics.histogram(
    'http_request_duration_seconds',
    'Time from the first byte in to the last byte out.',
    ['operation', 'status'],
  )
  return createHttpServer({
    routes: [orgs, files, webhooks, containers, inference, limits, responses, batches, evals].flatMap(
      ({ routes }) => routes,
    ),
    sockets: responses.sockets,
    pages: {
      pages: evals.pages,
      sessions: createSessions({ authenticate: orgs.authenticate, principalOf: orgs.principalOf, sealer }),
      projectName: async (id) => (await orgs.findProject(id))?.name ?? null,
      publicUrl,
    },
    authenticate: orgs.authenticate,
    gate: limits.gate,
    idempotency: createIdempotency(db.as<PlatformTables>(), sealer),
    db,
    tracing,
    log,
    checkReplies: settings.httpCheckReplies,
    observe: (operation, status, elapsed) => seconds.observe({ operation, status: String(status) }, elapsed),
    options: {
      corsOrigins: settings.httpCorsOrigins,
      bodyBytesMax: settings.httpBodyBytesMax,
      requestTimeoutMs: settings.httpRequestTimeoutMs,
      connectionsMax: settings.httpConnectionsMax,
      socketsMax: settings.httpSocketsMax,
      idleGraceMs,
    },
  })
}
