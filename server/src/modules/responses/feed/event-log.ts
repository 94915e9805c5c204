import type { Db } from '#platform/db/db.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { sleep } from '#platform/std/clock.ts'
import { attemptKey, insertEventsFenced, type EventBatch } from '../store/events.ts'
import type { ResponsesTables } from '../store/tables.ts'

/** The events of one attempt of a background response, on their way into the store. */
export interface AttemptLog {
  readonly responseId: string
  readonly attempt: number
  /** Called when the store says that another attempt has taken over, or that the response has ended. */
  readonly onLost: () => void
}

interface Pending {
  readonly log: AttemptLog
  readonly first: number
  readonly lines: string[]
}

export interface EventLogUses {
  readonly db: Db<ResponsesTables>
  readonly log: Log
  /** Tells whoever listens what was stored. */
  readonly announce: (batches: readonly EventBatch[]) => void
}

const flushEveryMs = 50
/** A row is closed with the event that brings it here, so that whoever reads holds little more than one event at a time. */
const rowBytesMax = 131_072
/** A response whose events wait for the database this long in number makes its producer wait. */
const waitingMax = 2_000

/**
 * Stores events before anyone sees them: one statement for all responses of this process every 50 ms. The events that a
 * step commits itself (its last ones) are taken out again with `take`.
 */
export class EventLog {
  readonly #use: EventLogUses
  readonly #pending = new Map<AttemptLog, Pending>()
  /** Failed to be stored, or so it seems. Tried again as they are: with other borders, some would be stored twice. */
  #failed: Pending[] = []
  #flushing: Promise<void> | null = null
  #scheduled = false

  constructor(use: EventLogUses) {
    this.#use = use
  }

  /** Adds one numbered event. Waits only while too many of the same response are waiting. */
  async write(log: AttemptLog, number: number, line: string): Promise<void> {
    const pending = this.#pending.get(log)
    if (pending === undefined) this.#pending.set(log, { log, first: number, lines: [line] })
    else pending.lines.push(line)
    this.#schedule()
    while ((this.#pending.get(log)?.lines.length ?? 0) > waitingMax) await sleep(flushEveryMs)
  }

  /** What is not stored yet of an attempt, which from now on is the caller's to store. Waits for what is on its way. */
  async take(log: AttemptLog): Promise<EventBatch[]> {
    await this.#flushing
    const left = [...this.#failed.filter((failed) => failed.log === log), this.#pending.get(log)]
    this.drop(log)
    return left.flatMap((pending) => (pending === undefined ? [] : batchesOf(pending)))
  }

  /** Forgets what is not stored of an attempt. */
  drop(log: AttemptLog): void {
    this.#pending.delete(log)
    this.#failed = this.#failed.filter((failed) => failed.log !== log)
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setTimeout(() => this.#tick(), flushEveryMs)
  }

  #tick(): void {
    this.#scheduled = false
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null
      if (this.#pending.size + this.#failed.length > 0) this.#schedule()
    })
  }

  async #flush(): Promise<void> {
    const taken = this.#failed.length > 0 ? this.#failed : [...this.#pending.values()]
    if (this.#failed.length > 0) this.#failed = []
    else this.#pending.clear()
    if (taken.length === 0) return
    const batches = taken.flatMap((pending) =>
      batchesOf(pending).map((batch) => ({ ...batch, attempt: pending.log.attempt })),
    )
    try {
      const stored = await insertEventsFenced(this.#use.db, batches)
      for (const { log } of taken) if (!stored.has(attemptKey(log))) log.onLost()
      this.#use.announce(batches.filter((batch) => stored.has(attemptKey(batch))).map(announced))
    } catch (err) {
      this.#use.log.warn({ err, responses: taken.length }, 'events could not be stored and will be tried again')
      this.#failed = taken
    }
  }
}

const announced = ({ responseId, first, last, lines }: EventBatch): EventBatch => ({ responseId, first, last, lines })

/** Always the same rows of the same events: what is stored again must meet what was stored before. */
function batchesOf({ log, first, lines }: Pending): EventBatch[] {
  const batches: EventBatch[] = []
  let from = 0
  let bytes = 0
  for (const [at, line] of lines.entries()) {
    bytes += line.length
    if (bytes < rowBytesMax && at < lines.length - 1) continue
    const row = lines.slice(from, at + 1).join('\n')
    batches.push({ responseId: log.responseId, first: first + from, last: first + at, lines: row })
    from = at + 1
    bytes = 0
  }
  return batches
}
