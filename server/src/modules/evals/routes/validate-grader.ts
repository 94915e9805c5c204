import { validateGrader } from '@switchyard/contracts/evals/grader-runs.ts'
import type { Inference } from '#modules/inference/index.ts'
import { route } from '#platform/http/route.ts'
import { readGrader } from './read-grader.ts'

export const validateGraderRoute = (use: { readonly inference: Pick<Inference, 'findModel'> }) =>
  route(validateGrader, async ({ body: { grader } }) => {
    readGrader(use.inference, grader)
    return { grader }
  })
