/** What the server asks of a checker process. Items travel as JSON text: their depth costs nothing on the way. */
export type CheckerAsk =
  | { kind: 'compile'; id: string; schema: string; limits: TimeLimits }
  | { kind: 'check'; id: string; items: string[]; limits: TimeLimits }
  | { kind: 'forget'; id: string }

export interface TimeLimits {
  /** Work is stopped after so long by the clock … */
  readonly clockMs: number
  /** … and is to blame for it if it had the processor for so long. */
  readonly busyMs: number
}

/** Why work was stopped: it used up its time, or the machine was too busy with other things to tell. */
export type Stopped = 'overran' | 'starved'

export interface CompileAnswer {
  refusal: string | null
  stopped: Stopped | null
}

/** For the first items in order; when stopped, the item after them was being checked. */
export interface CheckAnswer {
  reasons: (string | null)[]
  stopped: Stopped | null
  /** For how long it had the processor. */
  usedMs: number
}

export const READY = 'ready'
