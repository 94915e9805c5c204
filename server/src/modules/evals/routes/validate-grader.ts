import { validateGrader } from '@switchyard/contracts/evals/grader-runs.ts'
import { route } from '#platform/http/route.ts'
import type { Models } from './check-model.ts'
import { readGrader } from './read-grader.ts'

export const validateGraderRoute = (use: { readonly inference: Models }) =>
  route(validateGrader, async ({ body: { grader } }) => {
    readGrader(use.inference, grader)
    return { grader }
  })
