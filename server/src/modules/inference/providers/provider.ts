import type { ProviderConnection } from './wire/connection.ts'
import type { TurnPart, TurnRequest } from '../domain/turn.ts'

/** Something that answers turns. Each call is one try; whoever calls decides about another. */
export interface Provider {
  /** The answer as it comes. */
  stream(request: TurnRequest, signal: AbortSignal): AsyncGenerator<TurnPart, void, void>
  /** The whole answer, in as few parts as hold it. */
  answer(request: TurnRequest, signal: AbortSignal): Promise<TurnPart[]>
  /** Where the provider speaks chat completions itself: then a request for one passes as it is. */
  readonly chat?: ProviderConnection
}
