/** What the durable layer did in this process since it started. */
export interface DurableCounts {
  /** Sent by the process that committed it, right after the commit. */
  sentAtCommit: number
  /** Left in the outbox because the send right after the commit failed or found no room. */
  leftToRelay: number
  /** Re-sent by the relay: the committing process had died, or the engine was away. */
  relayed: number
  relayFailed: number
  /** Re-submitted by the sweep: lost by the engine, or killed after its last retry. */
  swept: number
  stepsDone: number
  /** Ended quietly: superseded by another attempt, or nothing left to do. */
  stepsOver: number
  stepsFailed: number
  registered: number
  /** Invocations taken from an address that is gone. */
  moved: number
}

export function newCounts(): DurableCounts {
  return {
    sentAtCommit: 0,
    leftToRelay: 0,
    relayed: 0,
    relayFailed: 0,
    swept: 0,
    stepsDone: 0,
    stepsOver: 0,
    stepsFailed: 0,
    registered: 0,
    moved: 0,
  }
}
