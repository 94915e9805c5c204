import type { FaultCode } from '@switchyard/contracts/errors.ts'
import type { Operation } from '@switchyard/contracts/operation.ts'
import type { Example } from '../example.ts'
import type { Place } from '../place.ts'
import type { RawBody } from '../raw-request.ts'

/** A call that must end in the fault it stands under. */
export interface Provocation extends Example {
  /** Bytes to be sent instead of the body. */
  readonly raw?: RawBody
  readonly headers?: Readonly<Record<string, string>>
  /** Another key than that of the place. */
  readonly key?: string
  /** It failed after it had begun, and what it did until then stays on record. */
  readonly leaves?: true
  /** Takes away what the case made, where it is so much that it slows down all others. */
  readonly undo?: () => Promise<unknown>
  /** What the error must name. */
  readonly param: string | null
}

export interface FaultCase {
  (at: Place): Promise<Provocation>
  /** The refusal comes only after seconds of asking again: such cases are provoked all at once. */
  readonly waits?: true
}

type FaultsOf<O> = O extends { faults: infer Faults extends readonly FaultCode[] } ? Faults[number] : never

/** A case for every fault that every operation declares; a missing one does not compile. */
export type FaultCases<Listed extends readonly Operation[]> = {
  readonly [O in Listed[number] as FaultsOf<O> extends never ? never : O['id']]: Readonly<
    Record<FaultsOf<O>, FaultCase>
  >
}
