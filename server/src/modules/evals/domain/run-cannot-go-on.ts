/** What stops a whole run: every further row would end in the same way. The run ends as `failed` with this reason. */
export class RunCannotGoOn extends Error {
  override name = 'RunCannotGoOn'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
