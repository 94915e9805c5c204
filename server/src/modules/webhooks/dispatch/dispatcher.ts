import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Part } from '#platform/lifecycle/module.ts'
import { sleep } from '#platform/std/clock.ts'
import { releaseLanes, renewLanes, takeDueLanes, type Lane } from '../store/lanes.ts'
import type { DispatchUses } from './dispatch-uses.ts'
import { LaneWorker, type LaneHost } from './lane-worker.ts'

/** How often PostgreSQL is asked what is due. Nothing depends on a wake-up; this is the longest that one can be missed. */
const lookEveryMs = 50
const leaseMs = 15_000
const renewEveryMs = 5_000
const lanesPerLook = 200
/** A lane without work is given back after this long, so that another process may have it. */
const idleLaneMs = 2_000
const drainMs = 15_000
const failurePauseMs = 500

const keyOf = (lane: Lane) => `${lane.lane}:${lane.endpoint_id}`

/** Sends what is due: takes lanes under a lease, keeps their slots busy, gives them back. Any number of processes may run one. */
export class Dispatcher implements LaneHost {
  readonly #use: DispatchUses
  readonly #holder = `${hostname()}:${process.pid}:${randomUUID()}`
  readonly #lanes = new Map<string, LaneWorker>()
  readonly #ending = new AbortController()
  #kicked = Promise.withResolvers<void>()
  #inFlight = 0
  #renewedAt = 0
  #loop: Promise<void> | null = null

  constructor(use: DispatchUses) {
    this.#use = use
  }

  part(): Part {
    return {
      name: 'webhook dispatcher',
      start: async () => {
        await this.#use.clock.look()
        this.#loop = this.#lookAgainAndAgain()
      },
      drain: () => this.#end(),
      stop: () => this.#end(),
    }
  }

  /** Something was committed here: look now rather than at the next turn. */
  kick(): void {
    this.#kicked.resolve()
  }

  takeSlot(): boolean {
    if (this.#inFlight >= this.#use.settings.inFlightMax) return false
    this.#inFlight += 1
    return true
  }

  freeSlot(): void {
    const wasFull = this.#inFlight >= this.#use.settings.inFlightMax
    this.#inFlight -= 1
    if (wasFull) this.pumpAll()
  }

  pumpAll(): void {
    for (const worker of this.#lanes.values()) worker.pump()
  }

  async #lookAgainAndAgain(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        await this.#look()
        await Promise.race([sleep(lookEveryMs, this.#ending.signal), this.#kicked.promise])
      } catch (err) {
        this.#use.log.warn({ err }, 'the look for due deliveries failed and will be tried again')
        await sleep(failurePauseMs, this.#ending.signal)
      }
      this.#kicked = Promise.withResolvers<void>()
    }
  }

  async #look(): Promise<void> {
    if (performance.now() - this.#renewedAt > renewEveryMs) await this.#renew()
    const lanes = await takeDueLanes(this.#use.db, this.#holder, leaseMs, lanesPerLook)
    for (const lane of lanes) {
      let worker = this.#lanes.get(keyOf(lane))
      // A closed one ends what it has in flight first; the endpoint may have come back meanwhile.
      if (worker === undefined || (worker.closed && worker.idle)) {
        worker = new LaneWorker(lane, this.#use, this)
        this.#lanes.set(keyOf(lane), worker)
      }
      worker.pump()
    }
    await this.#giveBackIdle()
  }

  /** Lanes whose lease was lost (this process was frozen, say) are someone else's: nothing more begins in them. */
  async #renew(): Promise<void> {
    const held = new Set((await renewLanes(this.#use.db, this.#holder, leaseMs)).map(keyOf))
    this.#renewedAt = performance.now()
    for (const [key, worker] of this.#lanes) {
      if (held.has(key)) continue
      worker.close()
      this.#lanes.delete(key)
    }
    await this.#use.clock.look()
  }

  async #giveBackIdle(): Promise<void> {
    const before = performance.now() - idleLaneMs
    const idle = [...this.#lanes.values()].filter((worker) => worker.idle && worker.idleSince < before)
    for (const worker of idle) {
      worker.close()
      this.#lanes.delete(keyOf(worker.lane))
      this.#use.health.forget(worker.lane.endpoint_id)
    }
    await releaseLanes(
      this.#use.db,
      this.#holder,
      idle.map(({ lane }) => lane),
    )
  }

  async #end(): Promise<void> {
    this.#ending.abort()
    await this.#loop
    for (const worker of this.#lanes.values()) worker.close()
    const deadline = performance.now() + drainMs
    while ([...this.#lanes.values()].some((worker) => !worker.idle) && performance.now() < deadline)
      await sleep(lookEveryMs)
    await this.#use.writer.idle()
    const held = [...this.#lanes.values()].map(({ lane }) => lane)
    this.#lanes.clear()
    try {
      await releaseLanes(this.#use.db, this.#holder, held)
    } catch (err) {
      this.#use.log.warn({ err }, 'lanes could not be given back; their lease passes by itself')
    }
  }
}
