import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Part } from './module.ts'
import type { ReadinessReport } from './readiness.ts'

export interface HealthOptions {
  /** An address that only operators reach: the metrics name routes and versions. */
  host?: string
  port?: number
  readiness: () => Promise<ReadinessReport>
  metrics: Metrics
  log: Log
}

export interface HealthServer extends Part {
  /** Where it listens, once started. */
  address(): { host: string; port: number }
}

const HOST = '127.0.0.1'
const PORT = 8081
const REQUEST_TIMEOUT_MS = 5000
const HEADER_BYTES_MAX = 8192
const CONNECTIONS_MAX = 64

/** The internal listener. As the first part it answers before the others are up and until they have stopped. */
export function createHealthServer(options: HealthOptions): HealthServer {
  const { host = HOST, port = PORT, log } = options
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS, maxHeaderSize: HEADER_BYTES_MAX },
    (request, response) => {
      answer(options, request.method, request.url, response).catch((err: unknown) => {
        log.error({ err, url: request.url }, 'internal request failed')
        send(response, 500, 'text/plain', 'failed\n')
      })
    },
  )
  server.maxConnections = CONNECTIONS_MAX
  return {
    name: 'internal-http',
    address: () => addressOf(server),
    async start() {
      server.listen(port, host)
      await once(server, 'listening')
      log.info(addressOf(server), 'internal listener up')
    },
    async stop() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  { readiness, metrics }: HealthOptions,
  method: string | undefined,
  url: string | undefined,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') return send(response, 405, 'text/plain', 'method not allowed\n')
  switch (url?.split('?')[0]) {
    case '/healthz':
      return send(response, 200, 'text/plain', 'ok\n')
    case '/readyz': {
      const report = await readiness()
      return send(response, report.ok ? 200 : 503, 'application/json', `${JSON.stringify(report)}\n`)
    }
    case '/metrics':
      return send(response, 200, metrics.contentType, await metrics.text())
    default:
      return send(response, 404, 'text/plain', 'not found\n')
  }
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  if (response.headersSent) return
  const headers = {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  }
  response.writeHead(status, headers).end(body)
}

function addressOf(server: Server): { host: string; port: number } {
  const { address, port } = server.address() as AddressInfo
  return { host: address, port }
}
