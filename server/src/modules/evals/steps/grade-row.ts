import type { CriterionOutcome, OutputItemStatus, OutputSample } from '@switchyard/contracts/evals/output-items.ts'
import type { AskPlan } from '../domain/ask-plan.ts'
import type { Criterion } from '../domain/criteria.ts'
import { RowError } from '../domain/row-error.ts'
import { givenSample, noSampling, sampleOfChat, sampleOfResponse, shownSample, type Sample } from '../domain/sample.ts'
import type { GradedRow } from '../store/rows.ts'
import type { Reason } from '../store/tables.ts'
import { askChat, askResponse } from './ask-model.ts'
import { gradeCriterion, type Grading, type GradeUses } from './grade-criterion.ts'
import { Refused } from './patience.ts'
import { RowMeter } from './row-meter.ts'

/** How the rows of a run are sampled and judged; read once for all rows of a chunk. */
export interface RowPlan {
  /** Null: the rows bring their samples. */
  readonly asking: AskPlan | null
  readonly criteria: readonly Criterion[]
}

export interface RowOutcome {
  readonly status: OutputItemStatus
  readonly passed: readonly (boolean | null)[]
  readonly sample: OutputSample
  readonly results: readonly CriterionOutcome[]
}

/** How far a row has come. A row that was turned away half-way goes on from there: nothing is asked and paid for twice. */
export class RowProgress {
  readonly n: number
  readonly meter = new RowMeter()
  input: OutputSample['input'] = []
  sampled: { readonly sample: Sample | Readonly<Record<string, unknown>> | null } | null = null
  readonly results: CriterionOutcome[] = []
  readonly passed: (boolean | null)[] = []
  error: Reason | null = null
  readonly refused = new Refused()

  constructor(n: number) {
    this.n = n
  }
}

const reasonOf = ({ code, message }: RowError | Reason): Reason => ({ code, message })

/** Samples and judges one row. What is wrong with the row is its outcome; what is thrown says nothing about it. */
export async function gradeRow(
  use: GradeUses,
  plan: RowPlan,
  row: GradedRow,
  progress: RowProgress,
  grading: Grading,
): Promise<RowOutcome> {
  if (row.error !== null) return errored(plan, progress, row.error)
  try {
    progress.sampled ??= { sample: await sampleRow(use, plan, row, progress, grading) }
  } catch (error) {
    if (error instanceof RowError) return errored(plan, progress, reasonOf(error))
    throw error
  }
  const { sample } = progress.sampled
  // One criterion after the other: a row has one call to a model under way, however many judge it.
  for (const criterion of plan.criteria.slice(progress.results.length)) {
    await judge(use, criterion, { item: row.item, sample }, progress, grading)
  }
  const { passed, results, input, error } = progress
  const status = error !== null ? 'error' : passed.every((one) => one === true) ? 'pass' : 'fail'
  return { status, passed, results, sample: shownSample(sample, input, samplingOf(plan), error) }
}

const samplingOf = ({ asking }: RowPlan) => asking?.sampling ?? noSampling

/** A row that comes to no judgement, with what it was asked. */
export const errored = (plan: RowPlan, { input }: RowProgress, error: Reason): RowOutcome => ({
  status: 'error',
  passed: [],
  sample: shownSample(null, input, samplingOf(plan), error),
  results: [],
})

async function sampleRow(
  use: GradeUses,
  { asking }: RowPlan,
  row: GradedRow,
  progress: RowProgress,
  grading: Grading,
): Promise<Sample | Readonly<Record<string, unknown>> | null> {
  const { item, sample } = row
  const { charged, signal } = grading
  if (asking === null) {
    return sample === null ? null : await use.turns.run(charged.projectId, signal, () => givenSample(sample))
  }
  const { body, shown } = await use.turns.run(charged.projectId, signal, () => asking.ask({ item, sample }))
  progress.input = shown
  return asking.kind === 'responses'
    ? sampleOfResponse(await askResponse(use, grading, body, asking.sampling.seed))
    : sampleOfChat(await askChat(use, grading, body))
}

async function judge(
  use: GradeUses,
  criterion: Criterion,
  scope: { item: unknown; sample: unknown },
  progress: RowProgress,
  grading: Grading,
): Promise<void> {
  try {
    const outcome = await gradeCriterion(use, criterion, scope, grading)
    progress.results.push(outcome)
    progress.passed.push(outcome.passed)
  } catch (thrown) {
    if (!(thrown instanceof RowError)) throw thrown
    const { code, message } = thrown
    progress.error ??= { code, message: `${criterion.grader.name}: ${message}` }
    const { id: name, grader } = criterion
    progress.results.push({ name, type: grader.type, passed: false, score: 0, error: { code, message } })
    progress.passed.push(null)
  }
}
