import type { Operation } from '@switchyard/contracts/operation.ts'
import type { Scope } from './principal.ts'

/** A request that was let in. What it was given is accounted for later, by whoever carries it out. */
export interface Passage {
  /** Shown on the reply, whatever becomes of it. */
  readonly headers: Readonly<Record<string, string>>
  /** The request is over, and nobody took what it was given. */
  leave(): void
}

export interface AtGate {
  readonly operation: Operation
  readonly scope: Scope
  readonly params: unknown
  /** As it was sent: nothing has been checked yet. Undefined when it could not be read. */
  readonly body: unknown
  readonly requestId: string
}

/** Asked before a limited operation looks at its input: requests that fail count as well. Throws the fault of a refusal. */
export type Gate = (request: AtGate) => Promise<Passage | null>

export const openGate: Gate = async () => null
