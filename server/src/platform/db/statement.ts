/** A query written once, run as a named statement: kysely building SQL per request measured a third of bare speed. */
export interface Statement<Params extends readonly unknown[], Row> {
  readonly name: string
  readonly text: string
  /** Types only. */
  readonly shape?: (params: Params) => Row
}

export function statement<Params extends readonly unknown[], Row>(name: string, text: string): Statement<Params, Row> {
  return { name, text }
}
