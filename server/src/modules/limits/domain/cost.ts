import type { LimitedModel } from './limits-book.ts'

export interface Tokens {
  readonly input: number
  /** Of the input, what the provider had in its cache. */
  readonly cached: number
  readonly output: number
}

/** US dollars a million tokens are this many billionths a token. */
const nanosPerToken = 1_000

/** In billionths of a US dollar, rounded once, at the end. */
export function costNanos({ price }: Pick<LimitedModel, 'price'>, { input, cached, output }: Tokens): number {
  const fresh = Math.max(0, input - cached)
  const usd =
    fresh * price.inputPerMtok + Math.min(cached, input) * price.cachedInputPerMtok + output * price.outputPerMtok
  return Math.round(usd * nanosPerToken)
}
