import type { Part } from '../lifecycle/module.ts'
import { backoff } from '../std/backoff.ts'
import { sleep } from '../std/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { Admin, Deployment } from './admin.ts'
import type { DurableCounts } from './counts.ts'
import { moveStranded } from './stranded.ts'

export interface RegistrationOptions {
  readonly admin: Admin
  readonly log: Log
  readonly counts: DurableCounts
  readonly prefix: string
  readonly services: readonly { name: string; shape: string }[]
  /** Where the engine reaches the workers of this deployment; known once they listen. */
  readonly uri: () => string
  readonly everyMs: number
}

const retry = { baseMs: 250, maxMs: 5_000, factor: 2, jitter: 0.5 }
/** A start waits this long for the engine, then goes on without it. */
const firstWaitMs = 15_000

/**
 * Keeps the engine informed of where our handlers are. An engine that lost its disk answers 404 to every send until
 * somebody registers again, and nobody else does.
 */
export class Registration {
  readonly #options: RegistrationOptions
  readonly #ending = new AbortController()
  #loop: Promise<void> | null = null
  /** The engine has been seen to know exactly our services, at our address, in our shape. */
  #settled = false
  #everSettled = false
  #moved = false
  #problem: string | null = null

  constructor(options: RegistrationOptions) {
    this.#options = options
  }

  part(): Part {
    return {
      name: 'durable registration',
      start: () => this.#begin(),
      drain: () => this.#end(),
      stop: () => this.#end(),
      ready: async () => {
        const unknown = 'the engine does not know this worker yet'
        if (!this.#everSettled) return { ok: false, detail: this.#problem ?? unknown }
        return this.#problem === null ? { ok: true } : { ok: true, degraded: this.#problem }
      },
    }
  }

  async #begin(): Promise<void> {
    const first = Promise.withResolvers<void>()
    this.#loop ??= this.#checkAgainAndAgain(first.resolve)
    const bound = new AbortController()
    await Promise.race([first.promise, sleep(firstWaitMs, bound.signal)])
    bound.abort()
  }

  async #end(): Promise<void> {
    this.#ending.abort()
    await this.#loop
  }

  async #checkAgainAndAgain(settled: () => void): Promise<void> {
    let failures = 0
    while (!this.#ending.signal.aborted) {
      try {
        await this.#check()
        if (this.#settled) settled()
        await this.#moveStranded()
        failures = 0
        this.#problem = null
      } catch (err) {
        failures += 1
        this.#settled = false
        this.#problem = `the engine could not be told of this worker: ${err instanceof Error ? err.message : 'unknown'}`
        if (failures === 1) this.#options.log.warn({ err }, 'the engine could not be asked for our registration')
      }
      const hurry = failures > 0 || !this.#settled
      await sleep(
        hurry ? backoff(retry, Math.max(1, failures), Math.random) : this.#options.everyMs,
        this.#ending.signal,
      )
    }
    settled()
  }

  async #check(): Promise<void> {
    const { admin, log, counts, services } = this.#options
    const uri = this.#uri()
    if (await this.#isRegistered(uri, await admin.listDeployments())) {
      this.#settled = true
      this.#everSettled = true
      return
    }
    this.#settled = false
    this.#moved = false
    await admin.register(uri)
    counts.add('registered')
    log.info({ uri, services: services.length }, 'registered with the engine')
  }

  /** Once after every registration: only then is there somewhere to move work that waits for an address that is gone. */
  async #moveStranded(): Promise<void> {
    if (!this.#settled || this.#moved) return
    const { admin, log, counts, prefix, services } = this.#options
    const deployments = await admin.listDeployments()
    counts.add('moved', await moveStranded({ admin, log, prefix, services, uri: this.#uri(), deployments }))
    this.#moved = true
  }

  /** As the engine writes it. */
  #uri(): string {
    return new URL(this.#options.uri()).href
  }

  async #isRegistered(uri: string, deployments: readonly Deployment[]): Promise<boolean> {
    const { admin, prefix, services } = this.#options
    const endpoints = new Map(deployments.map(({ id, endpoint }) => [id, endpoint]))
    const known = await admin.listServices(prefix)
    const latest = new Map(known.map(({ name, deployment_id }) => [name, endpoints.get(deployment_id)]))
    if (!services.every(({ name }) => latest.has(name))) return false
    const elsewhere = new Set(services.map(({ name }) => latest.get(name)).filter((endpoint) => endpoint !== uri))
    if (!this.#settled) {
      // A process that starts is the newest there is: its own address and shape have to be the engine's latest.
      if (elsewhere.size > 0) return false
      const shapes = await Promise.all(services.map(({ name }) => admin.findShape(name)))
      return shapes.every((shape, at) => shape === services[at]?.shape)
    }
    // Later, a newer deployment may have taken over. That is fine for as long as the engine reaches it.
    for (const endpoint of elsewhere) if (endpoint === undefined || !(await admin.reaches(endpoint))) return false
    return true
  }
}
