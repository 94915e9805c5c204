import type { Database } from '#platform/db/db.ts'

/** PostgreSQL's time, estimated between looks: due times and the 72 hours are judged by it, not by this machine's clock. */
export class DbClock {
  readonly #db: Database
  #offsetMs = 0

  constructor(db: Database) {
    this.#db = db
  }

  now(): Date {
    return new Date(Date.now() + this.#offsetMs)
  }

  async look(): Promise<void> {
    const asked = Date.now()
    const there = await this.#db.now()
    const answered = Date.now()
    const offsetMs = there.getTime() - (asked + answered) / 2
    // Within what a look can tell the clock stays as it is: ids that are made with it must not go back for nothing.
    const uncertainMs = 1 + (answered - asked) / 2
    if (Math.abs(offsetMs - this.#offsetMs) > uncertainMs) this.#offsetMs = offsetMs
  }
}
