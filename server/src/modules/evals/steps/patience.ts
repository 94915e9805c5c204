import type { TurnedAway } from '#platform/durable/work-rows.ts'
import { assert } from '#platform/std/assert.ts'
import { RunCannotGoOn } from '../domain/run-cannot-go-on.ts'

/** How often one row is refused, while others are answered, before that is the row's own trouble. */
const refusalsMax = 6
const namesMax = 1_000
/** Longer than a lane pauses, with what a refusal itself takes. */
const pauseMsMax = 120_000

/** Whom a row asks, one after the other: models, and the containers of Python graders. */
export interface Asking {
  asks(whom: string): void
  /** Whatever it says: it is there, and takes rows. */
  answered(): void
}

/** Whom a row asks now, and how it fared there. */
export class Refused {
  whom: string | null = null
  refusals = 0
  askedSince = 0
  refusedSince: number | null = null
}

/**
 * Whether somebody who is asked is away or merely refuses one row. Who is away is waited for, though not for ever; a row that
 * is refused again and again while others are answered ends by itself, and its run goes on. Told apart by whom a row asks: that
 * one answers says nothing of another.
 */
export class Patience {
  readonly #forMs: number
  readonly #now: () => number
  /** By run and whom it asks, in the order of their last answers. */
  readonly #answeredAt = new Map<string, number>()
  readonly #down = new Map<string, { since: number; last: number }>()

  constructor(forMs: number, now: () => number = () => performance.now()) {
    this.#forMs = forMs
    this.#now = now
  }

  asking(runId: string, row: Refused): Asking {
    return {
      asks: (whom) => {
        const name = `${runId}:${whom}`
        if (row.whom !== name) Object.assign(row, new Refused(), { whom: name, askedSince: this.#now() })
      },
      answered: () => {
        if (row.whom !== null) this.#answered(row.whom)
        row.whom = null
      },
    }
  }

  #answered(whom: string): void {
    this.#down.delete(whom)
    this.#answeredAt.delete(whom)
    this.#answeredAt.set(whom, this.#now())
    forgetOldest(this.#answeredAt)
  }

  /** True: the row is not worth another try. Throws when no row of the run is. */
  isOver(row: Refused, refusal: TurnedAway): boolean {
    assert(row.whom !== null, 'a row is refused by whom it asks')
    const now = this.#now()
    row.refusals += 1
    row.refusedSince ??= now
    const downSince = this.#downSince(row.whom, now)
    const answeredAt = this.#answeredAt.get(row.whom) ?? -1
    if (now - downSince < this.#forMs) return row.refusals >= refusalsMax && answeredAt > row.refusedSince
    // Others that were asked beside it had their answers: it is not the run that nobody takes.
    if (answeredAt > row.askedSince) return true
    const minutes = Math.round(this.#forMs / 6_000) / 10
    const message = `No row could be asked for ${minutes} minutes. ${whyOf(refusal)}`.trim()
    throw new RunCannotGoOn('provider_unavailable', message, { cause: refusal })
  }

  /** Since when nobody of the run was answered here. Rows may have been at another worker for a while: then it is not known. */
  #downSince(whom: string, now: number): number {
    const known = this.#down.get(whom)
    const since = known === undefined || now - known.last > this.#forMs + pauseMsMax ? now : known.since
    this.#down.delete(whom)
    this.#down.set(whom, { since, last: now })
    forgetOldest(this.#down)
    return since
  }
}

export const whyOf = ({ cause }: TurnedAway): string => (cause instanceof Error ? cause.message : '')

function forgetOldest(times: Map<string, unknown>): void {
  const [oldest] = times.keys()
  if (times.size > namesMax && oldest !== undefined) times.delete(oldest)
}
