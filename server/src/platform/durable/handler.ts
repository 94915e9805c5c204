import type { Tx } from '../db/tx.ts'
import { assert } from '../std/assert.ts'

/** A piece of work that should be under way and has not moved for a while. */
export interface Outstanding<Input> {
  /** `<row id>:<generation>`, with the generation that the query has just raised. */
  readonly key: string
  readonly input: Input
}

export interface Attempt {
  /** Aborts when the step's time is up, or when the engine has given this attempt up. */
  readonly signal: AbortSignal
}

/** One kind of step: what it does, how long it may take, and how to find work of its kind that was lost. */
export interface Handler<Uses, Input> {
  /** `module.verb-noun`, for example `evals.grade-chunk`. */
  readonly name: string
  /** The longest one step may take. The engine's own timeouts are set above it. */
  readonly stepTimeoutMs: number
  /**
   * Finds rows whose work should be under way and has not moved for a stated time. In the same statement it raises
   * each row's generation and touches the time it last moved: the engine remembers the key of work that it killed.
   */
  readonly outstanding: (tx: Tx, limit: number) => Promise<Outstanding<Input>[]>
  /** Claims, works, and commits the result together with the submission of the next step. Ids in, nothing out. */
  readonly run: (use: Uses, input: Input, attempt: Attempt) => Promise<void>
}

/** A handler with what it uses, ready to be served. */
export interface BoundHandler {
  readonly name: string
  readonly stepTimeoutMs: number
  readonly outstanding: (tx: Tx, limit: number) => Promise<Outstanding<unknown>[]>
  readonly run: (input: unknown, attempt: Attempt) => Promise<void>
}

// The name becomes a part of the engine's service name and of keys.
const nameForm = /^[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*$/

export function handler<Uses, Input>(declared: Handler<Uses, Input>): Handler<Uses, Input> {
  assert(nameForm.test(declared.name), `handler ${declared.name}: a name has the form module.verb-noun`)
  assert(declared.stepTimeoutMs > 0, `handler ${declared.name}: a step needs time`)
  return declared
}

export function bind<Uses, Input>(declared: Handler<Uses, Input>, uses: Uses): BoundHandler {
  return {
    name: declared.name,
    stepTimeoutMs: declared.stepTimeoutMs,
    outstanding: declared.outstanding,
    run: (input, attempt) => declared.run(uses, input as Input, attempt),
  }
}
