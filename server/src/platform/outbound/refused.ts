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
