/** What the calls of one model used. */
export interface ModelUse {
  readonly model: string
  readonly calls: number
  readonly prompt: number
  readonly completion: number
  readonly cached: number
}

/** Sums over results of a run. */
export interface Totals {
  readonly passed: number
  readonly failed: number
  readonly errored: number
  /** By criterion, in the order of the eval. */
  readonly criteria: readonly { readonly passed: number; readonly failed: number }[]
  readonly models: readonly ModelUse[]
}

export const noTotals: Totals = { passed: 0, failed: 0, errored: 0, criteria: [], models: [] }

/** Calls of one model count together, whoever made them. */
export function sumUse(uses: Iterable<ModelUse>): ModelUse[] {
  const byModel = new Map<string, ModelUse>()
  for (const use of uses) {
    const sum = byModel.get(use.model)
    byModel.set(
      use.model,
      sum === undefined
        ? use
        : {
            model: use.model,
            calls: sum.calls + use.calls,
            prompt: sum.prompt + use.prompt,
            completion: sum.completion + use.completion,
            cached: sum.cached + use.cached,
          },
    )
  }
  return [...byModel.values()].toSorted((a, b) => (a.model < b.model ? -1 : 1))
}

export function addTotals(parts: readonly Totals[]): Totals {
  const sum = (field: 'passed' | 'failed' | 'errored') => parts.reduce((all, part) => all + part[field], 0)
  const criteria = parts.reduce((most, part) => Math.max(most, part.criteria.length), 0)
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    errored: sum('errored'),
    criteria: Array.from({ length: criteria }, (_, at) => ({
      passed: parts.reduce((all, part) => all + (part.criteria[at]?.passed ?? 0), 0),
      failed: parts.reduce((all, part) => all + (part.criteria[at]?.failed ?? 0), 0),
    })),
    models: sumUse(parts.flatMap(({ models }) => models)),
  }
}
