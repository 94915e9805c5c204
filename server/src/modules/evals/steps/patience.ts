import type { TurnedAway } from '#platform/durable/work-rows.ts'
import { RunCannotGoOn } from '../domain/run-cannot-go-on.ts'

/** How often one row is refused, while others are answered, before that is the row's own trouble. */
const refusalsMax = 6
const runsMax = 1_000
/** Longer than a lane pauses, with what a refusal itself takes. */
const pauseMsMax = 120_000

/** What is known of one row's refusals. */
export interface Refused {
  refusals: number
  askedSince: number | null
  refusedSince: number | null
}

/**
 * Whether a provider is away or merely refuses one row. One that is away is waited for, though not for ever; a row that is
 * refused again and again while others are answered ends by itself, and its run goes on.
 */
export class Patience {
  readonly #forMs: number
  readonly #now: () => number
  /** By run, in the order of their last answers. */
  readonly #answeredAt = new Map<string, number>()
  readonly #down = new Map<string, { since: number; last: number }>()

  constructor(forMs: number, now: () => number = () => performance.now()) {
    this.#forMs = forMs
    this.#now = now
  }

  asking(row: Refused): void {
    row.askedSince ??= this.#now()
  }

  answered(runId: string): void {
    this.#down.delete(runId)
    this.#answeredAt.delete(runId)
    this.#answeredAt.set(runId, this.#now())
    forgetOldest(this.#answeredAt)
  }

  /** True: the row is not worth another try. Throws when no row of the run is. */
  isOver(runId: string, row: Refused, refusal: TurnedAway): boolean {
    const now = this.#now()
    row.refusals += 1
    row.refusedSince ??= now
    const downSince = this.#downSince(runId, now)
    const answeredAt = this.#answeredAt.get(runId) ?? -1
    if (now - downSince < this.#forMs) return row.refusals >= refusalsMax && answeredAt > row.refusedSince
    // Others that were asked beside it had their answers: it is not the run that nobody takes.
    if (row.askedSince !== null && answeredAt > row.askedSince) return true
    const minutes = Math.round(this.#forMs / 6_000) / 10
    const message = `No row could be asked for ${minutes} minutes. ${whyOf(refusal)}`.trim()
    throw new RunCannotGoOn('provider_unavailable', message, { cause: refusal })
  }

  /** Since when nobody of the run was answered here. Rows may have been at another worker for a while: then it is not known. */
  #downSince(runId: string, now: number): number {
    const known = this.#down.get(runId)
    const since = known === undefined || now - known.last > this.#forMs + pauseMsMax ? now : known.since
    this.#down.delete(runId)
    this.#down.set(runId, { since, last: now })
    forgetOldest(this.#down)
    return since
  }
}

export const whyOf = ({ cause }: TurnedAway): string => (cause instanceof Error ? cause.message : '')

function forgetOldest(times: Map<string, unknown>): void {
  const [oldest] = times.keys()
  if (times.size > runsMax && oldest !== undefined) times.delete(oldest)
}
