import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '#platform/telemetry/log.ts'
import type { Scope } from './principal.ts'

/** Set on every request by the server, and read by whoever answers it. */
export interface Served {
  /** Milliseconds of the process's monotonic clock. */
  startedAt: number
  /** Id of the operation; `unknown` on a path that has none. */
  operation: string
  scope: Scope | null
  /** It was at the gate of its operation's limits. */
  passed?: true
}
export type ServedRequest = FastifyRequest & Served

/** The client left before the reply was out. Never sent; for the log and the metrics. */
const clientGone = 499

export interface AccessLogUse {
  readonly log: Log
  /** One line and one measurement a request. */
  readonly observe: (operation: string, status: number, seconds: number) => void
}

export function processingMs(request: FastifyRequest): number {
  return performance.now() - (request as ServedRequest).startedAt
}

/** Writes the line of a request when its reply is out or its client gone. */
export function logRequest(use: AccessLogUse, request: FastifyRequest, reply: FastifyReply): void {
  const { scope, operation } = request as ServedRequest
  const status = reply.raw.writableFinished ? reply.raw.statusCode : clientGone
  const ms = processingMs(request)
  use.observe(operation, status, ms / 1_000)
  use.log.info(
    { requestId: request.id, operation, status, ms: Math.round(ms * 10) / 10, keyId: scope?.keyId },
    'request',
  )
}
