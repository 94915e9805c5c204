import type { Grader } from '@switchyard/contracts/evals/graders.ts'
import type { Inference } from '#modules/inference/index.ts'
import { checkGrader, graderParts, type GraderParts } from '../domain/check-grader.ts'
import { noSuchModel } from './faults.ts'

/** Takes a grader apart, and refuses one that could not grade. */
export function readGrader(models: Pick<Inference, 'findModel'>, grader: Grader): GraderParts {
  const read = graderParts(grader)
  for (const { param, grader: part } of read.parts) {
    if ('model' in part && models.findModel(part.model) === null) throw noSuchModel(`${param}.model`)
  }
  checkGrader(read)
  return read
}
