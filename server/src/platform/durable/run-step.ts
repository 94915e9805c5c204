import type { Log } from '../telemetry/log.ts'
import type { DurableCounts, StepOutcome } from './counts.ts'
import type { BoundHandler } from './handler.ts'
import { StepOver } from './step-over.ts'

/** One attempt of one invocation, as the engine asks for it. */
export interface StepRequest {
  readonly handler: BoundHandler
  readonly input: unknown
  readonly key: string
  readonly invocationId: string
  readonly signal: AbortSignal
}

/** Told to the engine instead of the error itself, whose text may hold what must not leave this process. */
export class StepFailed extends Error {
  override name = 'StepFailed'
  // The engine keeps the stack of the last failure. Ours is in the log, with the error itself.
  override stack = ''
}

class StepTimedOut extends Error {
  override name = 'StepTimedOut'
}

/**
 * Runs one attempt and says how it ended. Returning means that the engine is done with the invocation; throwing means
 * that it tries again after a while, and kills the invocation when it has tried often enough. The sweep then takes over.
 */
export async function runStep(step: StepRequest, { log, counts }: { log: Log; counts: DurableCounts }): Promise<void> {
  const { handler, key, invocationId } = step
  const begunMs = performance.now()
  const end = (outcome: StepOutcome) => {
    const ms = performance.now() - begunMs
    counts.addStep(handler.name, outcome, ms)
    return { handler: handler.name, key, invocationId, ms: Math.round(ms) }
  }
  try {
    await runInTime(step)
    log.info(end('done'), 'step done')
  } catch (err) {
    if (err instanceof StepOver) {
      log.info({ ...end('over'), why: err.name }, 'step over')
      return
    }
    const line = end('failed')
    if (step.signal.aborted) log.warn(line, 'step was cut off by the engine or by a lost connection')
    else log.warn({ ...line, err }, 'step failed and will be tried again')
    throw new StepFailed(err instanceof Error ? err.name : 'unknown error')
  }
}

// The attempt ends here even if the step does not listen to its signal: what it still writes is fenced.
async function runInTime({ handler, input, signal }: StepRequest): Promise<void> {
  const timeUp = new AbortController()
  const late = new Promise<never>((_, reject) => {
    timeUp.signal.addEventListener('abort', () => reject(timeUp.signal.reason as Error), { once: true })
  })
  const bound = setTimeout(
    () => timeUp.abort(new StepTimedOut(`${handler.name} took longer than ${handler.stepTimeoutMs} ms`)),
    handler.stepTimeoutMs,
  )
  try {
    await Promise.race([handler.run(input, { signal: AbortSignal.any([signal, timeUp.signal]) }), late])
  } finally {
    clearTimeout(bound)
  }
}
