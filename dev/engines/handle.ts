/** What every engine we started can be told to do. */
export interface EngineHandle {
  readonly pid: number
  /** Ends it in order; kills it when that takes too long. Nothing happens when it is not running. */
  stop: () => Promise<void>
  /** Ends it at once, as a crash would. */
  kill9: () => Promise<void>
  /** Starts it again on the same ports and data, whether it runs, was stopped or was killed. */
  restart: () => Promise<void>
}
