import * as contract from '@switchyard/contracts/evals/grader-runs.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { givenSample } from '../domain/sample.ts'
import type { PythonGraders } from '../steps/python-graders.ts'
import { RowMeter } from '../steps/row-meter.ts'
import { runGrader, type RunGraderUses } from '../steps/run-grader.ts'
import type { Models } from './check-model.ts'
import { readGrader } from './read-grader.ts'

/** Of one call, whatever its graders wait for. */
const graderMsMax = 120_000

export interface RunGraderRouteUses extends RunGraderUses {
  readonly inference: RunGraderUses['inference'] & Models
  readonly python: Pick<PythonGraders, 'score' | 'release'>
}

const sampleOf = (text: string) =>
  givenSample({
    output_text: text,
    output_tools: [],
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
  })

export const runGraderRoute = (use: RunGraderRouteUses) =>
  route(contract.runGrader, async ({ scope, body, request }) => {
    const read = readGrader(use.inference, body.grader)
    const timeout = AbortSignal.timeout(graderMsMax)
    const grading = {
      charged: { orgId: scope.orgId, projectId: scope.projectId, keyId: scope.keyId },
      meter: new RowMeter(),
      signal: AbortSignal.any([request.signal, timeout]),
      runId: newId('graderrun_'),
    }
    const call = { scope: { item: body.item ?? {}, sample: sampleOf(body.model_sample) }, grading, timeout }
    try {
      return await runGrader(use, body.grader, read, call)
    } finally {
      await grading.meter.recordAlone(use.limits, grading.signal)
      if (read.parts.some(({ grader }) => grader.type === 'python')) await use.python.release(grading.runId)
    }
  })
