import { errors } from 'undici'

/** Why a request did not bring a reply. Stable: they are stored in attempt logs and shown to users. */
export type RefusalReason =
  | 'scheme_not_allowed'
  | 'port_not_allowed'
  /** The deployment limits which hosts may be reached, and this is none of them. */
  | 'host_not_allowed'
  | 'userinfo_not_allowed'
  | 'address_not_allowed'
  | 'name_not_resolved'
  | 'timed_out'
  | 'too_many_redirects'
  | 'redirect_refused'
  | 'too_large'
  | 'connect_failed'
  | 'tls_failed'
  | 'reset'
  /** The peer spoke something that is not HTTP/1.1. */
  | 'bad_reply'
  /** Too many requests are under way in this process; nothing was sent. */
  | 'busy'

/** A request to a user's URL that was not made, or brought nothing. `cause` keeps the inner error for the log. */
export class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused'
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.reason = reason
  }
}

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
