/** A ratio between the product and its twin: the only kind of figure that means the same on every machine. */
export interface Figure {
  readonly name: string
  readonly ratio: number
  /** What we promise on a quiet machine; null for a figure that is told and not judged. */
  readonly target: Bound | null
  /** The two sides in their own units, for people. Never compared from one run to the next. */
  readonly measured: string
}

export type Bound = { readonly atLeast: number } | { readonly atMost: number }

/** In CI, where neighbours share the machine, only a ratio twice as bad as the target is a failure. */
const ciSlack = 2

export function ciBound(target: Bound): Bound {
  return 'atLeast' in target ? { atLeast: target.atLeast / ciSlack } : { atMost: target.atMost * ciSlack }
}

export function holds(ratio: number, bound: Bound): boolean {
  return 'atLeast' in bound ? ratio >= bound.atLeast : ratio <= bound.atMost
}

export function boundText(bound: Bound | null): string {
  if (bound === null) return ''
  return 'atLeast' in bound ? `>= ${bound.atLeast}` : `<= ${bound.atMost}`
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
