import type { Database } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { spanMs } from '../domain/schedule.ts'
import { disableFailing, noteHealth, type Outcome } from '../store/outcomes.ts'

export interface HealthUses {
  readonly db: Database
  readonly log: Log
  readonly scale: number
  /** Tells the project in the transaction that disables one of its endpoints. */
  readonly announceDisabled: (tx: Tx, endpointId: string, reason: string) => Promise<void>
}

/** How often in 72 hours a failing endpoint's row is looked at: every four minutes. */
const looksPerSpan = 1_000

const reason =
  'Every delivery failed for 72 hours. Fix the receiver, then resume the endpoint; what is still within its 72 hours is sent then.'

/** Follows whether endpoints answer, and disables one that failed without a break for 72 hours. */
export class Health {
  readonly #use: HealthUses
  /** What the row says, as far as this process knows. */
  readonly #failing = new Map<string, boolean>()
  /** When a failing endpoint's row is worth another look. */
  readonly #lookAgainAt = new Map<string, number>()

  constructor(use: HealthUses) {
    this.#use = use
  }

  learn(endpointId: string, failing: boolean): void {
    this.#failing.set(endpointId, failing)
  }

  forget(endpointId: string): void {
    this.#failing.delete(endpointId)
    this.#lookAgainAt.delete(endpointId)
  }

  #isKnown(endpointId: string, delivered: boolean): boolean {
    if (delivered) return this.#failing.get(endpointId) === false
    return this.#failing.get(endpointId) === true && performance.now() < (this.#lookAgainAt.get(endpointId) ?? 0)
  }

  /**
   * The row is touched when an endpoint's health changes, and now and then while it fails, since it may be due for
   * disabling; not per delivery.
   */
  async note(outcomes: readonly Outcome[]): Promise<void> {
    const good = new Map<string, boolean>()
    for (const { endpointId, ended } of outcomes)
      good.set(endpointId, good.get(endpointId) === true || ended === 'delivered')
    for (const [endpointId, delivered] of good) {
      if (this.#isKnown(endpointId, delivered)) continue
      await this.#use.db.tx(async (tx) => {
        await noteHealth(tx, endpointId, !delivered)
        if (delivered) return
        if (await disableFailing(tx, endpointId, spanMs * this.#use.scale, reason)) {
          await this.#use.announceDisabled(tx, endpointId, reason)
          this.#use.log.warn({ endpointId }, 'webhook endpoint disabled after failing for the whole span')
        }
      })
      this.#failing.set(endpointId, !delivered)
      if (delivered) this.#lookAgainAt.delete(endpointId)
      else this.#lookAgainAt.set(endpointId, performance.now() + (spanMs * this.#use.scale) / looksPerSpan)
    }
  }
}
