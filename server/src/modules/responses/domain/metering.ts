import type { Usage } from '@switchyard/contracts/responses/response.ts'
import type { Admission, Charged, Tokens, UsageEntry } from '#modules/limits/index.ts'
import { charsPerToken } from '#platform/std/token-estimate.ts'

/** Whom a response is charged to. */
export interface Metering extends Charged {
  /** It was let in by limits, and has reservations to settle. */
  readonly limited: boolean
  readonly batch: boolean
}

export const meteringFor = ({ charged, limited }: Admission): Metering => ({ ...charged, limited, batch: false })

const tokensOf = (usage: Usage): Tokens => ({
  input: usage.input_tokens,
  cached: usage.input_tokens_details.cached_tokens,
  output: usage.output_tokens,
})

/** Counts the model calls of one move: what providers report, or else what was said until it was cut off. */
export class TurnMeter {
  readonly turn: number
  /** Tokens were reserved for it. The first turn was let in with its request. */
  reserved: boolean
  readonly #counted: Tokens[] = []
  #open: { input: () => number; said: number } | null = null

  constructor(turn: number) {
    this.turn = turn
    this.reserved = turn === 0
  }

  begin(input: () => number): void {
    this.#open = { input, said: 0 }
  }

  say(chars: number): void {
    if (this.#open !== null) this.#open.said += chars
  }

  finish(usage: Usage): void {
    this.#counted.push(tokensOf(usage))
    this.#open = null
  }

  /** The provider turned the call away: nothing was used. */
  refused(): void {
    if (this.#open?.said === 0) this.#open = null
  }

  /** What the move used; nothing when no model was called. */
  used(): { outcome: UsageEntry['outcome']; tokens: Tokens } | null {
    const counted = [...this.#counted]
    if (this.#open !== null) counted.push(cutOff(this.#open.said, this.#open.input()))
    if (counted.length === 0) return null
    const sum = (field: keyof Tokens) => counted.reduce((all, one) => all + one[field], 0)
    const tokens = { input: sum('input'), cached: sum('cached'), output: sum('output') }
    return { outcome: this.#open === null ? 'completed' : 'interrupted', tokens }
  }
}

/** What a call used that was cut off, as far as it is known. */
export const cutOff = (charsSaid: number, input = 0): Tokens => ({
  input,
  cached: 0,
  output: Math.ceil(charsSaid / charsPerToken),
})

/** Characters that stored events have of what a model said. */
export function charsSaid(lines: readonly string[]): number {
  let chars = 0
  for (const line of lines) {
    const { delta } = JSON.parse(line) as { delta?: unknown }
    if (typeof delta === 'string') chars += delta.length
  }
  return chars
}

export function usageEntry(
  { orgId, projectId, keyId, requestId, batch }: Metering,
  model: string,
  turn: number,
  { outcome, tokens }: { outcome: UsageEntry['outcome']; tokens: Tokens },
): UsageEntry {
  return { orgId, projectId, keyId, requestId, batch, operation: 'responses', model, turn, outcome, tokens }
}
