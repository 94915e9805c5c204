/** Bounds on what a provider may cost us. Times that operators tune come from settings. */
export interface ProviderLimits {
  /** Name lookup, TCP and TLS together. */
  readonly connectMs: number
  /** From asking to the first event of a stream, the wait for a free connection included. */
  readonly firstPartMs: number
  /** Between two events of a stream. */
  readonly idleMs: number
  /** From asking to the end of an answer that is not streamed. */
  readonly answerMs: number
  /** Open at once to one origin. */
  readonly connectionsMax: number
}

/** Requests that may wait for a connection, for each that is open. */
export const waitingPerConnection = 4
/** One event of a stream. */
export const eventCharsMax = 8 * 1024 * 1024
/** One whole answer, streamed or not. */
export const answerBytesMax = 64 * 1024 * 1024
/** What is read of a refusal, to say why. */
export const refusalBytesMax = 64 * 1024
