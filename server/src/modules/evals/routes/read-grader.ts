import type { Grader } from '@switchyard/contracts/evals/graders.ts'
import { checkGrader, graderParts, type GraderParts } from '../domain/check-grader.ts'
import { checkModelOfGrader, type Models } from './check-model.ts'

/** Takes a grader apart, and refuses one that could not grade. */
export function readGrader(models: Models, grader: Grader): GraderParts {
  const read = graderParts(grader)
  for (const part of read.parts) checkModelOfGrader(models, part.grader, part.param)
  checkGrader(read)
  return read
}
