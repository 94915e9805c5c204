import type { Counter, Histogram, Metrics } from '../telemetry/metrics.ts'

const none = {
  /** Sent by the process that committed it, right after the commit. */
  sentAtCommit: 0,
  /** Left in the outbox because the send right after the commit failed or found no room. */
  leftToRelay: 0,
  /** Re-sent by the relay: the committing process had died, or the engine was away. */
  relayed: 0,
  relayFailed: 0,
  /** Re-submitted by the sweep: lost by the engine, or killed after its last retry. */
  swept: 0,
  stepsDone: 0,
  /** Ended quietly: superseded by another attempt, or nothing left to do. */
  stepsOver: 0,
  stepsFailed: 0,
  registered: 0,
  /** Invocations taken from an address that is gone. */
  moved: 0,
}

export type CountName = keyof typeof none

/** What the durable layer did in this process since it started. */
export type Counts = Readonly<Record<CountName, number>>

export type StepOutcome = 'done' | 'over' | 'failed'

const countOf = { done: 'stepsDone', over: 'stepsOver', failed: 'stepsFailed' } as const

export class DurableCounts {
  readonly #counts: Record<CountName, number> = { ...none }
  readonly #metric: Counter<'what'> | undefined
  readonly #durations: Histogram<'handler' | 'outcome'> | undefined

  constructor(metrics?: Metrics) {
    this.#durations = metrics?.histogram('durable_step_seconds', 'Time of one attempt of a step.', [
      'handler',
      'outcome',
    ])
    this.#metric = metrics?.counter('durable_events_total', 'Submissions, steps and repairs of durable work.', ['what'])
  }

  add(name: CountName, by = 1): void {
    if (by === 0) return
    this.#counts[name] += by
    this.#metric?.inc({ what: name }, by)
  }

  addStep(handler: string, outcome: StepOutcome, ms: number): void {
    this.add(countOf[outcome])
    this.#durations?.observe({ handler, outcome }, ms / 1_000)
  }

  read(): Counts {
    return { ...this.#counts }
  }
}
