import type { Limits, UsageEntry } from '#modules/limits/index.ts'
import type { Db } from '#platform/db/db.ts'
import { Gathered } from '#platform/db/gathered.ts'
import { isDatabaseUnavailable } from '#platform/db/unavailable.ts'
import { Superseded } from '#platform/durable/step-over.ts'
import { backoff } from '#platform/std/backoff.ts'
import { sleep } from '#platform/std/clock.ts'
import { insertResults, type NewResult, type Written } from '../store/results.ts'
import type { EvalsTables } from '../store/tables.ts'
import type { RowMeter } from './row-meter.ts'

export interface ResultWriterUses {
  readonly db: Db<EvalsTables>
  readonly limits: Pick<Limits, 'record'>
}

interface Ask {
  readonly result: NewResult
  readonly entries: readonly UsageEntry[]
}

/** Of a result that PostgreSQL does not take, whoever it stands beside. */
interface Unwritten {
  readonly error: unknown
}

const resultsPerStatement = 200
/** Two, so that results gather while one is written and the event loop is not made to wait. */
const statementsAtOnce = 2
/** A result was paid for: while PostgreSQL is away it is kept in hand, as long as a chunk's lease lasts. */
const writeForMs = 25_000
const waits = { baseMs: 100, maxMs: 2_000, factor: 2, jitter: 0.5 }

/** Writes the results of rows, those of many rows in one transaction, each with what it used. */
export class ResultWriter {
  readonly #use: ResultWriterUses
  readonly #gathered: Gathered<Ask, Written | Unwritten>

  constructor(use: ResultWriterUses) {
    this.#use = use
    this.#gathered = new Gathered((asks) => this.#write(asks), {
      batchMax: resultsPerStatement,
      atOnceMax: statementsAtOnce,
    })
  }

  /**
   * Resolves once the result is durable. Throws `Superseded` when the chunk is not ours any more; what the row used is
   * then still to be recorded.
   */
  async keep(result: NewResult, meter: RowMeter, signal: AbortSignal): Promise<void> {
    const written = await this.#writeLong({ result, entries: meter.entries }, signal)
    if (written === 'lost') throw new Superseded('another attempt has this row, or its run is over')
    meter.kept()
  }

  async #writeLong(ask: Ask, signal: AbortSignal): Promise<Written> {
    const until = performance.now() + writeForMs
    for (let tries = 1; ; tries += 1) {
      try {
        const written = await this.#gathered.ask(ask)
        if (typeof written === 'string') return written
        throw written.error
      } catch (error) {
        if (!isDatabaseUnavailable(error) || performance.now() > until) throw error
        if (!(await sleep(backoff(waits, tries, Math.random), signal))) throw error
      }
    }
  }

  /** A result that cannot be written is its own row's trouble, and not that of those beside it. */
  async #write(asks: readonly Ask[]): Promise<(Written | Unwritten)[]> {
    try {
      return await this.#commit(asks)
    } catch (error) {
      if (asks.length === 1 || isDatabaseUnavailable(error)) throw error
      const written: (Written | Unwritten)[] = []
      for (const ask of asks) written.push(await this.#writeAlone(ask))
      return written
    }
  }

  async #writeAlone(ask: Ask): Promise<Written | Unwritten> {
    try {
      const [written] = await this.#commit([ask])
      return written ?? 'lost'
    } catch (error) {
      return { error }
    }
  }

  async #commit(asks: readonly Ask[]): Promise<Written[]> {
    return await this.#use.db.tx(async (tx) => {
      const written = await insertResults(
        tx,
        asks.map(({ result }) => result),
      )
      // A result that is there already was committed by us before the connection broke, and its usage with it.
      const entries = asks.flatMap((ask, at) => (written[at] === 'kept' ? ask.entries : []))
      if (entries.length > 0) await this.#use.limits.record(tx, entries)
      return written
    })
  }
}
