import type { Db } from '#platform/db/db.ts'
import { isDatabaseUnavailable } from '#platform/db/unavailable.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { insertDecisions, type Decision } from '../store/decisions.ts'
import type { LimitsTables } from '../store/tables.ts'

const writeEveryMs = 500
const batchMax = 2_000
/** What waits to be written. Beyond it a decision is counted, and not kept. */
const waitingMax = 50_000

/** Keeps why requests were admitted or refused: written in batches, at most a second behind, never in anybody's way. */
export class DecisionLog {
  readonly #use: { readonly db: Db<LimitsTables>; readonly log: Log }
  #waiting: Decision[] = []
  #dropped = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(use: { readonly db: Db<LimitsTables>; readonly log: Log }) {
    this.#use = use
  }

  note(decision: Decision): void {
    if (this.#waiting.length >= waitingMax) this.#dropped += 1
    else this.#waiting.push(decision)
  }

  async flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write())
    await this.#writing
  }

  readonly part: Part = {
    name: 'limit decisions',
    start: async () => {
      this.#timer = setInterval(() => void this.flush(), writeEveryMs)
    },
    stop: async () => {
      clearInterval(this.#timer)
      await this.flush()
    },
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchMax)
      try {
        await insertDecisions(this.#use.db, batch)
      } catch (err) {
        if (!isDatabaseUnavailable(err)) {
          // Something in it cannot be written, and never will be: it must not hold up what comes after it.
          this.#dropped += batch.length
          this.#use.log.error({ err, decisions: batch.length }, 'limit decisions cannot be written')
          continue
        }
        // Kept for the next time, as far as there is room.
        this.#waiting = [...batch, ...this.#waiting].slice(0, waitingMax)
        this.#use.log.warn({ err, waiting: this.#waiting.length }, 'limit decisions could not be written yet')
        return
      }
    }
    if (this.#dropped === 0) return
    this.#use.log.warn({ dropped: this.#dropped }, 'limit decisions were not kept')
    this.#dropped = 0
  }
}
