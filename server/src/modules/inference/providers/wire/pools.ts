import { Pool } from 'undici'
import { ProviderFault } from '../../domain/provider-fault.ts'
import { waitingPerConnection, type ProviderLimits } from './limits.ts'

/** Connections to one origin, and how many requests want one. */
export class OriginPool {
  readonly pool: Pool
  readonly #inFlightMax: number
  #inFlight = 0

  constructor(origin: string, limits: ProviderLimits) {
    this.#inFlightMax = limits.connectionsMax * (1 + waitingPerConnection)
    this.pool = new Pool(origin, {
      connections: limits.connectionsMax,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: limits.connectMs },
      // A stream has its own, shorter bound on the wait for its first event.
      headersTimeout: limits.answerMs,
      bodyTimeout: limits.idleMs,
    })
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Counts a request in; whoever calls this calls `leave` once, however the request ends. */
  enter(): void {
    if (this.#inFlight >= this.#inFlightMax) {
      throw new ProviderFault('rate_limited', 'Too many requests wait for the model provider.', { retryAfterMs: 1_000 })
    }
    this.#inFlight += 1
  }

  leave(): void {
    this.#inFlight -= 1
  }
}

/** One pool for each origin of the catalogue, so their number is bounded by the operator's file. */
export class ProviderPools {
  readonly #limits: ProviderLimits
  readonly #pools = new Map<string, OriginPool>()

  constructor(limits: ProviderLimits) {
    this.#limits = limits
  }

  get(origin: string): OriginPool {
    let pool = this.#pools.get(origin)
    if (pool === undefined) this.#pools.set(origin, (pool = new OriginPool(origin, this.#limits)))
    return pool
  }

  inFlight(): number {
    return [...this.#pools.values()].reduce((sum, { inFlight }) => sum + inFlight, 0)
  }

  /** What is still under way is cut: whoever waits for it has been drained before. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map(({ pool }) => pool.destroy()))
  }
}
