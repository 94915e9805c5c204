export interface Command {
  readonly usage: string
  readonly says: string
  /** Returns the exit code. */
  run(args: readonly string[]): Promise<number>
}

/** A mistake of the person at the keyboard: the message is enough, a stack would be noise. */
export class UsageError extends Error {}
