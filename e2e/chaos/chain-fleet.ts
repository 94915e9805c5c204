import { mkdtempSync, chmodSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '#platform/db/db.ts'
import type { Database } from '#platform/db/db.ts'
import { scratchDatabase } from '#platform/db/testing/scratch-database.ts'
import type { Counts, CountName } from '#platform/durable/counts.ts'
import { createChainTables } from '#platform/durable/testing/chain.ts'
import { ChainChild } from '#platform/durable/testing/chain-child.ts'
import type { ChainProcessOptions } from '#platform/durable/testing/chain-process.ts'
import { freePort } from '../../dev/engines/free-port.ts'
import { startPostgres } from '../../dev/engines/postgres.ts'
import type { Postgres } from '../../dev/engines/postgres.ts'
import { startRestate } from '../../dev/engines/restate.ts'
import type { Restate } from '../../dev/engines/restate.ts'

export type Told = Partial<ChainProcessOptions>
export type Name = 'worker-1' | 'worker-2' | 'api'

const names: Name[] = ['worker-1', 'worker-2', 'api']
const connectionsMax = 4

/** Engines of its own, two workers that share a port, and one process that submits as an api node does. */
export class ChainFleet {
  readonly postgres: Postgres
  readonly restate: Restate
  readonly db: Database
  readonly #folder: string
  readonly #common: Omit<ChainProcessOptions, 'worker'>
  readonly #workerPort: number
  readonly #children = new Map<Name, ChainChild>()
  readonly #told = new Map<Name, Told>()
  readonly #past: Counts[] = []
  readonly #startingAgain = new Map<Name, Promise<void>>()
  /** Processes that ended without having been asked to. They are started again, as any supervisor would. */
  crashes = 0

  private constructor(
    folder: string,
    engines: { postgres: Postgres; restate: Restate },
    databaseUrl: string,
    workerPort: number,
    stalledMs: number,
  ) {
    this.#folder = folder
    this.postgres = engines.postgres
    this.restate = engines.restate
    this.#workerPort = workerPort
    this.db = openDatabase({
      url: databaseUrl,
      connectionsMax,
      statementTimeoutMs: 30_000,
      applicationName: 'chaos',
      onIdleError: () => {},
    })
    const { ingressUrl, adminUrl, identityKey } = this.restate
    const where = { databaseUrl, ingressUrl, adminUrl, identityKey, prefix: 'chaos' }
    const pace = { workMs: 20, stalledMs, sweepEveryMs: 2_000, sweepLeaseMs: 6_000, drainMs: 10_000 }
    this.#common = { ...where, ...pace, stepsMax: 32, code: 'v1', logLevel: 'silent' }
  }

  static async start(stalledMs: number): Promise<ChainFleet> {
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-chaos-'))
    chmodSync(folder, 0o755)
    const postgres = await startPostgres({ dataDir: join(folder, 'postgres') })
    const restate = await startRestate({ dataDir: join(folder, 'restate') })
    const { url } = await scratchDatabase(postgres.url)
    const fleet = new ChainFleet(folder, { postgres, restate }, url, await freePort(), stalledMs)
    await createChainTables(fleet.db)
    return fleet
  }

  async startWorkers(told: Told = {}): Promise<void> {
    await Promise.all([this.start('worker-1', told), this.start('worker-2', told)])
  }

  /** What was told stays told for later starts of the same process. */
  async start(name: Name, told: Told = this.#told.get(name) ?? {}): Promise<void> {
    this.#told.set(name, told)
    const port = name === 'api' ? {} : { port: this.#workerPort }
    const child = await ChainChild.start({ ...this.#common, ...port, ...told, worker: name })
    this.#children.set(name, child)
    void this.#supervise(name, child)
  }

  async #supervise(name: Name, child: ChainChild): Promise<void> {
    if (!(await child.ended())) return
    this.crashes += 1
    console.log(`  ${name} ended by itself and is started again`)
    this.#gone(name)
    const again = this.start(name)
    this.#startingAgain.set(name, again)
    await again
    this.#startingAgain.delete(name)
  }

  child(name: Name): ChainChild {
    const child = this.#children.get(name)
    if (child === undefined) throw new Error(`${name} is not running`)
    return child
  }

  async kill9(name: Name): Promise<void> {
    await this.#startingAgain.get(name)
    await this.child(name).kill9()
    this.#gone(name)
  }

  async end(name: Name): Promise<void> {
    await this.#startingAgain.get(name)
    if (!this.#children.has(name)) return
    await this.child(name).end()
    this.#gone(name)
  }

  #gone(name: Name): void {
    const counts = this.child(name).counts
    if (counts !== null) this.#past.push(counts)
    this.#children.delete(name)
  }

  /** Sums over all processes, dead and alive, since the start. */
  count(what: CountName): number {
    const alive = [...this.#children.values()].map(({ counts }) => counts)
    return [...this.#past, ...alive].reduce((sum, counts) => sum + (counts?.[what] ?? 0), 0)
  }

  async stop(): Promise<void> {
    for (const name of names) if (this.#children.has(name)) await this.kill9(name)
    await this.db.close()
    await this.restate.stop()
    await this.postgres.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
