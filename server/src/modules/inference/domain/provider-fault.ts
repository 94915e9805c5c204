/** Why a model call failed. */
export type ProviderFaultKind =
  /** The provider wants us to come back later. */
  | 'rate_limited'
  /** No connection, a 5xx, or the connection broke. */
  | 'unavailable'
  /** Nothing came for too long. */
  | 'hung'
  /** It refused the request: a 4xx that another try will not change. */
  | 'refused'
  /** The request is longer than the model reads. */
  | 'context_length'
  /** What came could not be understood. */
  | 'malformed'

/** A model call that failed. The message names no key, no address and no header: it may be shown. */
export class ProviderFault extends Error {
  override name = 'ProviderFault'
  readonly kind: ProviderFaultKind
  readonly retryAfterMs: number | undefined
  /** Whether any part had been given out; then it is not tried again. */
  readonly afterFirstPart: boolean

  constructor(
    kind: ProviderFaultKind,
    message: string,
    detail: { retryAfterMs?: number; afterFirstPart?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: detail.cause })
    this.kind = kind
    this.retryAfterMs = detail.retryAfterMs
    this.afterFirstPart = detail.afterFirstPart ?? false
  }
}
