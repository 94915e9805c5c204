import type { Call } from './counting-provider.ts'
import { numberOf, type Outcome } from './mixed-requests.ts'
import type { DecisionRow, UsageRow } from './recorded.ts'

/** Everything that is known of one request. */
export interface Traced {
  readonly outcome: Outcome
  readonly requestId: string | null
  readonly calls: readonly Call[]
  readonly rows: readonly UsageRow[]
  readonly decisions: readonly DecisionRow[]
}

export interface Attributed {
  readonly requests: readonly Traced[]
  /** Rows and decisions of no request that was made. */
  readonly strays: readonly (UsageRow | DecisionRow)[]
}

/**
 * Puts together what client, provider, ledger and limiter know of each request. A client that was cut off never learned its
 * request id; what the limiter was charged, or what the provider counted, tells it.
 */
export function attribute(
  outcomes: readonly Outcome[],
  calls: readonly Call[],
  rows: readonly UsageRow[],
  decisions: readonly DecisionRow[],
): Attributed {
  const numbers = new Map<string, number>()
  for (const { requestId, number } of outcomes) if (requestId !== null) numbers.set(requestId, number)
  const made = new Set(outcomes.map(({ number }) => number))
  const learn = (requestId: string, number: number | undefined) => {
    if (number !== undefined && made.has(number) && !numbers.has(requestId)) numbers.set(requestId, number)
  }
  const byInput = new Map(calls.map((call) => [call.input, call]))
  for (const { requestId, outcome, input } of rows) {
    if (outcome === 'completed') learn(requestId, byInput.get(input)?.request)
  }
  for (const { requestId, charged, reservation } of decisions) {
    const isFirst = reservation === null || reservation === requestId
    if (charged !== null && isFirst) learn(requestId, numberOf(charged))
  }
  const numberFor = ({ requestId }: { readonly requestId: string }) => numbers.get(requestId)
  const callsOf = Map.groupBy(calls, ({ request }) => request)
  const rowsOf = Map.groupBy(rows, numberFor)
  const decisionsOf = Map.groupBy(decisions, numberFor)
  const idOf = new Map([...numbers].map(([requestId, number]) => [number, requestId]))
  return {
    requests: outcomes.map((outcome) => ({
      outcome,
      requestId: idOf.get(outcome.number) ?? null,
      calls: callsOf.get(outcome.number) ?? [],
      rows: rowsOf.get(outcome.number) ?? [],
      decisions: decisionsOf.get(outcome.number) ?? [],
    })),
    strays: [...(rowsOf.get(undefined) ?? []), ...(decisionsOf.get(undefined) ?? [])],
  }
}
