import type { CriterionOutcome } from '@switchyard/contracts/evals/output-items.ts'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { pythonThresholdDefault, type Criterion, type TextGrader } from '../domain/criteria.ts'
import { RowError } from '../domain/row-error.ts'
import { stringCheck } from '../domain/string-check.ts'
import { render, type TemplateScope } from '../domain/template.ts'
import { similarity } from '../domain/text-similarity/similarity.ts'
import type { RowCall } from './ask-model.ts'
import { gradeByModel, type ModelGraderUses } from './grade-by-model.ts'
import type { PythonGraders } from './python-graders.ts'

export interface GradeUses extends ModelGraderUses {
  readonly python: Pick<PythonGraders, 'score'>
}

/** Of the run, or of the one call to the graders API, that a row belongs to. */
export interface Grading extends RowCall {
  readonly runId: string
}

/** What a criterion says of one row. Throws a RowError when it cannot say anything. */
export async function gradeCriterion(
  use: GradeUses,
  criterion: Criterion,
  scope: TemplateScope,
  grading: Grading,
): Promise<CriterionOutcome> {
  const { id: name } = criterion
  const { charged, signal } = grading
  switch (criterion.kind) {
    case 'text': {
      const { grader, input, reference } = criterion
      const judged = await use.turns.run(charged.projectId, signal, () =>
        gradeText(grader, { input: render(input, scope), reference: render(reference, scope) }),
      )
      return { name, type: grader.type, ...judged }
    }
    case 'model':
      return { name, type: criterion.grader.type, ...(await gradeByModel(use, criterion, scope, grading)) }
    case 'python': {
      const { source, pass_threshold: threshold = pythonThresholdDefault } = criterion.grader
      const asked = {
        projectId: charged.projectId as ProjectId,
        runId: grading.runId,
        source,
        item: scope.item,
        sample: scope.sample ?? null,
        asking: grading.asking,
      }
      const score = await use.python.score(asked, signal)
      return { name, type: 'python', passed: score >= threshold, score }
    }
  }
}

function gradeText(grader: TextGrader, { input, reference }: { input: string; reference: string }) {
  if (grader.type === 'string_check') {
    const passed = stringCheck(grader.operation, input, reference)
    return { passed, score: passed ? 1 : 0 }
  }
  const score = similarity(grader.evaluation_metric, input, reference)
  if (!Number.isFinite(score)) throw new RowError('grader_error', 'The similarity of the texts is no number.')
  return { passed: score >= (grader.pass_threshold ?? 0), score }
}
