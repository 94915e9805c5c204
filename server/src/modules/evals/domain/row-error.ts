/** Why one row of a run could not be graded. The row ends as `error` with this reason, and the run goes on. */
export class RowError extends Error {
  override name = 'RowError'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
