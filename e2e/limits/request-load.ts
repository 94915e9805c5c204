import { sleep } from '#platform/std/clock.ts'
import type { Fleet } from '../responses/fleet.ts'
import { makeRequest, type Outcome } from './mixed-requests.ts'

const atOnce = 48
const pollMs = 20

/** Requests one after another in many lanes, as far as they are allowed. */
export class RequestLoad {
  readonly outcomes: Outcome[] = []
  begun = 0
  readonly #fleet: Fleet
  readonly #apis: number
  readonly #count: number
  #allowed = 0
  readonly #lanes: Promise<void>[]

  constructor(fleet: Fleet, apis: number, count: number) {
    this.#fleet = fleet
    this.#apis = apis
    this.#count = count
    this.#lanes = Array.from({ length: atOnce }, () => this.#lane())
  }

  /** Begins so many that this share of all has been begun. */
  allow(share: number): void {
    this.#allowed = Math.min(this.#count, Math.ceil(share * this.#count))
  }

  /** Requests that may be begun and are not. */
  get waiting(): number {
    return this.#allowed - this.begun
  }

  async done(): Promise<readonly Outcome[]> {
    this.allow(1)
    await Promise.all(this.#lanes)
    return this.outcomes
  }

  async #lane(): Promise<void> {
    while (this.begun < this.#count) {
      if (this.waiting <= 0) {
        await sleep(pollMs)
        continue
      }
      this.begun += 1
      this.outcomes.push(await makeRequest(this.#fleet, this.#apis, this.begun))
    }
  }
}
