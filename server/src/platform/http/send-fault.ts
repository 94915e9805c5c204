import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '#platform/telemetry/log.ts'
import { processingMs } from './access-log.ts'
import { faultReply, type FaultReply } from './fault-reply.ts'
import { hasUnreadBody, lingerAfterReply } from './linger.ts'

export const jsonType = 'application/json; charset=utf-8'

/** Headers of the reply that was meant and did not come about. They say nothing about the fault. */
const ofContent = ['content-disposition', 'content-range', 'accept-ranges', 'x-content-type-options']

export function sendFault(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): void {
  const { body } = beginFault(error, request, reply, log)
  void reply.header('content-type', jsonType).send(JSON.stringify(body))
}

/** Everything of the reply but its body. */
export function beginFault(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): FaultReply {
  const fault = faultReply(error, request.id)
  if (fault.ours && !leftMeanwhile(error, request)) {
    log.error({ err: error, requestId: request.id }, 'request failed')
  }
  for (const name of ofContent) if (reply.hasHeader(name)) reply.removeHeader(name)
  if (hasUnreadBody(request.raw)) {
    // What is left of the body would be taken for the next request.
    reply.header('connection', 'close')
    lingerAfterReply(request.raw)
  } else if (reply.hasHeader('connection') && !reply.raw.hasHeader('connection')) {
    // The framework means to close after every body that it could not parse. We have read it to its end.
    reply.removeHeader('connection')
  }
  void reply
    .code(fault.status)
    .headers({ 'x-request-id': request.id, 'openai-processing-ms': String(Math.round(processingMs(request))) })
    .headers(fault.headers)
  return fault
}

/** It failed because the client has gone: neither a fault of ours nor anyone left to tell. */
function leftMeanwhile(error: unknown, request: FastifyRequest): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return request.raw.socket.destroyed && (code === 'ECONNRESET' || name === 'AbortError')
}
