import { RowError } from './row-error.ts'
import type { Sample } from './sample.ts'

const shownMax = 200

const unreadable = (what: string, { output_text: text }: Sample) =>
  new RowError(
    'model_grader_parse_error',
    `The grader's model did not answer with ${what}: ${JSON.stringify(text.slice(0, shownMax))}.`,
  )

/** What it said as `result`, or else all that it said. */
function verdictOf({ output_json: json, output_text: text }: Sample): unknown {
  if (typeof json !== 'object' || json === null) return json ?? text.trim()
  return Object.hasOwn(json, 'result') ? (json as { result: unknown }).result : undefined
}

/** The score that a grader's model gave, which must lie in the range. */
export function scoreOf(sample: Sample, [low, high]: readonly [number, number]): number {
  const verdict = verdictOf(sample)
  const score = typeof verdict === 'string' && verdict.trim() !== '' ? Number(verdict) : verdict
  if (typeof score !== 'number' || !Number.isFinite(score)) throw unreadable('a number', sample)
  if (score < low || score > high) {
    throw new RowError('score_out_of_range', `The grader's model gave ${score}; the range is ${low} to ${high}.`)
  }
  return score
}

/** The label that a grader's model chose. */
export function labelOf(sample: Sample, labels: readonly string[]): string {
  const verdict = verdictOf(sample)
  const label = labels.find((one) => one === verdict)
  if (label === undefined) throw unreadable(`one of the labels ${labels.slice(0, 10).join(', ')}`, sample)
  return label
}
