import type { GraderErrors, GraderRun } from '@switchyard/contracts/evals/grader-runs.ts'
import { faults, type FaultCode } from '@switchyard/contracts/errors.ts'
import type { Grader, SingleGrader } from '@switchyard/contracts/evals/graders.ts'
import { TurnedAway } from '#platform/durable/work-rows.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { GraderParts } from '../domain/check-grader.ts'
import { compileGrader } from '../domain/criteria.ts'
import { evaluate, FormulaError, type Formula } from '../domain/formula.ts'
import { errorsOf, noErrors } from '../domain/grader-errors.ts'
import { RowError } from '../domain/row-error.ts'
import { RunCannotGoOn } from '../domain/run-cannot-go-on.ts'
import type { TemplateScope } from '../domain/template.ts'
import type { ModelUse } from '../domain/totals.ts'
import { gradeCriterion, type GradeUses, type Grading } from './grade-criterion.ts'

export interface RunGraderUses extends GradeUses {
  readonly log: Log
}

/** What is graded: one item, one output, under the time that there is. */
export interface GraderCall {
  readonly scope: TemplateScope & { readonly sample: { readonly output_json?: unknown } }
  readonly grading: Grading
  /** Aborts `grading.signal` when the time is up. */
  readonly timeout: AbortSignal
}

type Outcome = { readonly score: number } | { readonly errors: Partial<GraderErrors> }

/** The score of one grader, or why there is none. What concerns the caller and not the grader is thrown. */
async function scoreOf(use: RunGraderUses, grader: SingleGrader, call: GraderCall): Promise<Outcome> {
  try {
    const { score } = await gradeCriterion(use, compileGrader(grader, grader.name), call.scope, call.grading)
    return { score }
  } catch (error) {
    if (call.timeout.aborted) return { errors: { unresponsive_reward_error: true } }
    if (error instanceof RowError) {
      return { errors: errorsOf(error, grader, call.scope.sample.output_json != null) }
    }
    if (error instanceof RunCannotGoOn && error.code in faults) {
      throw new Fault(error.code as FaultCode, error.message, { cause: error })
    }
    if (error instanceof TurnedAway) {
      const details = 'The provider of the model is busy or cannot be reached.'
      return { errors: { model_grader_server_error: true, model_grader_server_error_details: details } }
    }
    if (grader.type !== 'python' || error instanceof Fault || call.grading.signal.aborted) throw error
    use.log.warn({ err: error }, 'a python grader could not be run')
    return { errors: { python_grader_server_error: true, python_grader_server_error_type: 'container_error' } }
  }
}

function combined(formula: Formula | null, scores: ReadonlyMap<string, number>): Outcome {
  const [first] = scores.values()
  if (formula === null) return { score: first ?? 0 }
  try {
    return { score: evaluate(formula, scores) }
  } catch (error) {
    if (error instanceof FormulaError) return { errors: { formula_parse_error: true } }
    throw error
  }
}

/** Lets the parts of a grader judge one output, and makes one reward of it. */
export async function runGrader(
  use: RunGraderUses,
  grader: Grader,
  { parts, formula }: GraderParts,
  call: GraderCall,
): Promise<GraderRun> {
  const started = performance.now()
  // All of them come to their end first: what they used is counted then.
  const settled = await Promise.allSettled(
    parts.map(async (part) => ({ name: part.name, ...(await scoreOf(use, part.grader, call)) })),
  )
  const outcomes = settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
  const scores = new Map(outcomes.flatMap((one) => ('score' in one ? [[one.name, one.score] as const] : [])))
  const failed = outcomes.flatMap((one) => ('errors' in one ? [one.errors] : []))
  const reward: Outcome = failed.length === 0 ? combined(formula, scores) : { errors: {} }
  if ('errors' in reward) failed.push(reward.errors)
  const { use: used } = call.grading.meter
  const shown = formula === null ? {} : Object.fromEntries(scores)
  return {
    reward: 'score' in reward ? reward.score : 0,
    sub_rewards: shown,
    model_grader_token_usage_per_model: Object.fromEntries(used.map((one) => [one.model, tokensOf(one)])),
    metadata: {
      name: grader.name,
      type: grader.type,
      execution_time: (performance.now() - started) / 1_000,
      scores: shown,
      token_usage: used.length === 0 ? null : used.reduce((sum, one) => sum + one.prompt + one.completion, 0),
      sampled_model_name: grader.type === 'score_model' ? (used[0]?.model ?? null) : null,
      errors: Object.assign({ ...noErrors }, ...failed) as GraderErrors,
    },
  }
}

const tokensOf = ({ prompt, completion, cached }: ModelUse) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  cached_tokens: cached,
})
