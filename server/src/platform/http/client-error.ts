import type { ErrorBody } from '@switchyard/contracts/errors.ts'
import type { Socket } from 'node:net'
import { Fault } from '#platform/errors/fault.ts'
import { newRequestId } from '#platform/std/ids.ts'
import type { AccessLogUse } from './access-log.ts'
import type { Connections } from './connections.ts'
import { sendRaw } from './raw-reply.ts'

const headersTooLarge = 431
/** The client is gone, or has said its last word in the middle of a request. */
const gone = new Set<unknown>(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'])

function replyFor(code: unknown): { status: number; body: ErrorBody } {
  const said = (fault: Fault, status = fault.status) => ({ status, body: fault.body() })
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return said(new Fault('request_too_large', 'The headers of the request are too large.'), headersTooLarge)
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return said(new Fault('request_too_large', 'The chunks of the request are malformed.'))
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return said(new Fault('request_timeout', 'The request did not arrive completely in the time allowed.'))
    default: {
      const error = { message: 'Malformed HTTP request.', type: 'invalid_request_error', param: null, code: null }
      return { status: 400, body: { error } }
    }
  }
}

/** Answers what never became a request: bytes that are not HTTP, headers without end, a body that stopped coming. */
export function answerClientError(error: Error, socket: Socket, connections: Connections, use: AccessLogUse): void {
  const { code } = error as { code?: unknown }
  const arriving = connections.arriving(socket)
  // Whoever is in the middle of a reply, or waits for one, would take ours for it.
  const taken = arriving === null ? connections.isBusy(socket) : arriving.headersSent
  if (taken || !socket.writable || gone.has(code)) {
    socket.destroy()
    return
  }
  const requestId = newRequestId()
  const { status, body } = replyFor(code)
  use.observe('unknown', status, 0)
  use.log.info({ requestId, operation: 'unknown', status, reason: code }, 'request')
  sendRaw(socket, { status, headers: { 'x-request-id': requestId }, body })
}
