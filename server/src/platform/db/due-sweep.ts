import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Part } from '../lifecycle/module.ts'
import { assert } from '../std/assert.ts'
import { backoff } from '../std/backoff.ts'
import { sleep } from '../std/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { Db } from './db.ts'
import { holdLease } from './hold-lease.ts'
import { releaseLease, renewLease, takeLease } from './lease.ts'
import type { Lease } from './lease.ts'
import type { PlatformTables } from './tables.ts'

/** The holding under which one round runs. */
export interface SweepLease extends Lease {
  /** Aborts when the lease is lost, or when the process will not wait for the round any longer. */
  readonly signal: AbortSignal
}

export interface DueSweepOptions {
  /** Also the lease's name: one holder among all processes that use it. */
  readonly name: string
  readonly everyMs: number
  /** Above `everyMs`, so that one process keeps the sweep; a dead one is replaced after this long. */
  readonly leaseMs: number
  readonly db: Db<PlatformTables>
  readonly log: Log
  /** Does one bounded batch of what is due by PostgreSQL's clock and says how much that was; 0 means nothing is left. */
  readonly run: (lease: SweepLease) => Promise<number>
  /** Rounds without a pause before the sweep sleeps again. */
  readonly roundsMax?: number
  /** How long drain waits for the round in hand before it is called off. */
  readonly drainMs?: number
}

const defaultRoundsMax = 1_000
const defaultDrainMs = 10_000
const renewalsPerLease = 3
const retry = { baseMs: 250, maxMs: 5_000, factor: 2, jitter: 0.5 }
/** Failures in a row before readiness mentions them. One is what a restart of PostgreSQL looks like. */
const failuresShown = 3

/**
 * Carries out what is due, by one process at a time. Nothing depends on a wake-up: each round asks PostgreSQL what is
 * due, so a crash, a lost lease or a database that was away only delays. A frozen holder may wake up beside its
 * successor; `run` must therefore guard its writes as every step does.
 */
export function dueSweep(options: DueSweepOptions): Part {
  assert(options.leaseMs > options.everyMs, `sweep ${options.name}: leaseMs must be above everyMs`)
  const sweep = new DueSweep(options)
  return {
    name: `sweep ${options.name}`,
    start: async () => sweep.begin(),
    drain: () => sweep.end(options.drainMs ?? defaultDrainMs),
    stop: () => sweep.end(0),
    ready: async () =>
      sweep.failures < failuresShown ? { ok: true } : { ok: true, degraded: `failed ${sweep.failures} times in a row` },
  }
}

class DueSweep {
  failures = 0
  readonly #options: DueSweepOptions
  readonly #holder = `${hostname()}:${process.pid}:${randomUUID()}`
  readonly #ending = new AbortController()
  readonly #calledOff = new AbortController()
  #loop: Promise<void> | null = null
  #lease: Lease | null = null

  constructor(options: DueSweepOptions) {
    this.#options = options
  }

  begin(): void {
    this.#loop ??= this.#wakeAgainAndAgain()
  }

  /** No further round begins; the one in hand may finish within the bound. */
  async end(boundMs: number): Promise<void> {
    this.#ending.abort()
    const bound = setTimeout(() => this.#calledOff.abort(new Error('the process is ending')), boundMs)
    await this.#loop
    clearTimeout(bound)
  }

  async #wakeAgainAndAgain(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      await sleep(await this.#wake(), this.#ending.signal)
    }
    await this.#giveBack()
  }

  /** Returns how long to sleep. */
  async #wake(): Promise<number> {
    const { name, everyMs, leaseMs, db, log } = this.#options
    try {
      this.#lease = await takeLease(db, name, this.#holder, leaseMs)
      if (this.#lease !== null) await this.#runRounds(this.#lease)
      this.failures = 0
      return everyMs
    } catch (err) {
      if (this.#calledOff.signal.aborted) return 0
      this.failures += 1
      const waitMs = backoff(retry, this.failures, Math.random)
      log.warn({ err, sweep: name, failures: this.failures, waitMs }, 'sweep failed and will be tried again')
      return waitMs
    }
  }

  async #runRounds(lease: Lease): Promise<void> {
    const { name, leaseMs, db, log, run, roundsMax = defaultRoundsMax } = this.#options
    await using held = holdLease({
      renew: () => renewLease(db, lease, leaseMs),
      everyMs: leaseMs / renewalsPerLease,
      forMs: leaseMs,
      signal: this.#calledOff.signal,
    })
    let done = 0
    for (let round = 0; round < roundsMax; round += 1) {
      const count = await run({ ...lease, signal: held.signal })
      done += count
      if (count === 0 || held.signal.aborted || this.#ending.signal.aborted) break
    }
    if (done > 0) log.info({ sweep: name, done, attempt: lease.attempt }, 'sweep carried out what was due')
  }

  async #giveBack(): Promise<void> {
    const lease = this.#lease
    if (lease === null) return
    try {
      await releaseLease(this.#options.db, lease)
    } catch (err) {
      // The lease passes by itself; the next holder only has to wait for it.
      this.#options.log.warn({ err, sweep: this.#options.name }, 'sweep could not give its lease back')
    }
  }
}
