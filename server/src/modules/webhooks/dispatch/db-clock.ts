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
    this.#offsetMs = there.getTime() - (asked + Date.now()) / 2
  }
}
