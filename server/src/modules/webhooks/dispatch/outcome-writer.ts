import type { Db } from '#platform/db/db.ts'
import { backoff } from '#platform/std/backoff.ts'
import { sleep } from '#platform/std/clock.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { writeOutcomes, type Outcome } from '../store/outcomes.ts'
import type { WebhooksTables } from '../store/tables.ts'

export interface Written {
  readonly outcome: Outcome
  /** Called once it is durable. */
  readonly done: () => void
}

const everyMs = 100
const batchMax = 2_000
/** Sending stops while this many outcomes wait for the database. */
export const waitingOutcomesMax = 20_000
const retry = { baseMs: 100, maxMs: 2_000, factor: 2, jitter: 0.5 }

export interface OutcomeWriterUses {
  readonly db: Db<WebhooksTables>
  readonly log: Log
  /** After a batch is durable: endpoints whose health may have changed. */
  readonly onWritten: (outcomes: readonly Outcome[]) => Promise<void>
}

/** Writes what became of attempts, every 100 ms in one statement. A crash loses at most that: those deliveries are sent again. */
export class OutcomeWriter {
  readonly #use: OutcomeWriterUses
  #waiting: Written[] = []
  #loop: Promise<void> | null = null

  constructor(use: OutcomeWriterUses) {
    this.#use = use
  }

  get full(): boolean {
    return this.#waiting.length >= waitingOutcomesMax
  }

  add(written: Written): void {
    this.#waiting.push(written)
    this.#loop ??= this.#flushUntilEmpty()
  }

  /** Resolves when everything added so far is durable. */
  async idle(): Promise<void> {
    await this.#loop
  }

  async #flushUntilEmpty(): Promise<void> {
    let failures = 0
    await sleep(everyMs)
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchMax)
      try {
        const outcomes = batch.map(({ outcome }) => outcome)
        await writeOutcomes(this.#use.db, outcomes)
        this.#waiting.splice(0, batch.length)
        failures = 0
        for (const { done } of batch) done()
        await this.#use.onWritten(outcomes)
      } catch (err) {
        failures += 1
        this.#use.log.warn({ err, waiting: this.#waiting.length }, 'outcomes could not be written and wait')
        await sleep(backoff(retry, failures, Math.random))
      }
      if (this.#waiting.length > 0 && this.#waiting.length < batchMax) await sleep(everyMs)
    }
    this.#loop = null
  }
}
