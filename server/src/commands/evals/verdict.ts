import type { EvalRun } from '@switchyard/contracts/evals/runs.ts'
import { percent } from '#platform/std/percent.ts'
import { grouped } from './display.ts'

/** What a run must reach. */
export interface Bounds {
  /** Of the rows that were judged, from 0 to 1. */
  readonly passRateMin: number
  readonly errorsMax: number
}

/** What a pipeline acts upon. */
export const exitCodes = { passed: 0, below: 1, broken: 2, usage: 3 } as const

export interface Verdict {
  readonly outcome: 'passed' | 'below' | 'broken'
  /** One sentence for people. */
  readonly says: string
}

export const passRate = ({ passed, failed }: EvalRun['result_counts']): number =>
  passed + failed === 0 ? 0 : passed / (passed + failed)

/** A run that judged nothing reached nothing. */
export const isBelow = (counts: EvalRun['result_counts'], { passRateMin }: Bounds): boolean =>
  counts.passed + counts.failed === 0 || passRate(counts) < passRateMin

export function verdictOf({ status, result_counts: counts, error }: EvalRun, bounds: Bounds): Verdict {
  if (status === 'canceled') return { outcome: 'broken', says: 'The run was cancelled.' }
  if (status !== 'completed') {
    return { outcome: 'broken', says: `The run ${status}: ${error?.message ?? 'it did not say why.'}` }
  }
  if (counts.errored > bounds.errorsMax) {
    const says = `${grouped(counts.errored)} of ${grouped(counts.total)} rows could not be judged; at most ${grouped(bounds.errorsMax)} may.`
    return { outcome: 'broken', says }
  }
  const judged = counts.passed + counts.failed
  const said = `${grouped(counts.passed)} of ${grouped(judged)} rows passed (${percent(counts.passed, judged)})`
  if (isBelow(counts, bounds)) {
    return { outcome: 'below', says: `${said}; ${percent(bounds.passRateMin, 1)} must.` }
  }
  return { outcome: 'passed', says: `${said}.` }
}
