import { errors } from 'undici'
import { OutboundRefused } from './refused.ts'

const TLS_CODE =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|EPROTO)/

/** Names what went wrong in the HTTP client. `sent` tells whether a connection had been found for the request. */
export function refusalOf(error: Error, sent: boolean): Error {
  if (error instanceof OutboundRefused) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') return error // our caller's mistake
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return new OutboundRefused('timed_out', 'No connection could be made in time.', { cause: error })
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new OutboundRefused('too_large', 'The headers of the reply are too large.', { cause: error })
  }
  // Without its cause, which holds what the peer sent.
  if (error instanceof errors.HTTPParserError)
    return new OutboundRefused('bad_reply', 'The reply is not valid HTTP/1.1.')
  if (TLS_CODE.test(code)) return new OutboundRefused('tls_failed', 'No TLS session could be made.', { cause: error })
  if (sent) return new OutboundRefused('reset', 'The connection broke before the reply was complete.', { cause: error })
  return new OutboundRefused('connect_failed', 'No connection could be made.', { cause: error })
}
