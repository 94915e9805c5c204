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

export interface StepRunnerOptions {
  readonly log: Log
  readonly counts: DurableCounts
  /** Steps that this process works on at once; more wait for a free place. */
  readonly stepsMax: number
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

/** Above what the engine sends at once (its default is 1,000 a partition), so that waiting ends in time, not here. */
const waitingMax = 10_000

/**
 * Runs steps and says how each ended. Returning means that the engine is done with the invocation; throwing means that
 * it tries again after a while, and kills the invocation when it has tried often enough. The sweep then takes over.
 */
export class StepRunner {
  readonly #options: StepRunnerOptions
  readonly #waiting: (() => void)[] = []
  readonly #idle: (() => void)[] = []
  #running = 0

  constructor(options: StepRunnerOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#running
  }

  async run(step: StepRequest): Promise<void> {
    await this.#takePlace(step.signal)
    try {
      await this.#runTold(step)
    } finally {
      this.#freePlace()
    }
  }

  /** Resolves once no step is running or waiting. */
  async idle(): Promise<void> {
    if (this.#running === 0) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  async #takePlace(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new StepFailed('given up before it began')
    if (this.#running < this.#options.stepsMax) {
      this.#running += 1
      return
    }
    if (this.#waiting.length >= waitingMax) throw new StepFailed('no room')
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(new StepFailed('given up while waiting'))
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(enter)
    })
  }

  #freePlace(): void {
    const next = this.#waiting.shift()
    if (next !== undefined) return next()
    this.#running -= 1
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  async #runTold(step: StepRequest): Promise<void> {
    const { log, counts } = this.#options
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
