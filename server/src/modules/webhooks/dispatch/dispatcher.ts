import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Part } from '#platform/lifecycle/module.ts'
import { sleep } from '#platform/std/clock.ts'
import { findTargets, listDueFirst, releaseLanes, renewLanes, takeDueLanes, type Lane } from '../store/lanes.ts'
import type { DispatchUses } from './dispatch-uses.ts'
import { LaneWorker, type LaneHost } from './lane-worker.ts'

/** How often PostgreSQL is asked what is due. Nothing depends on a wake-up; this is the longest that one can be missed. */
const lookEveryMs = 50
/** However often something is committed here, a look is followed by a rest as long as itself, within these bounds. */
const lookGapMs = 10
const lookGapMaxMs = 100
const leaseMs = 15_000
const renewEveryMs = 5_000
/** Taken at one look, so that processes that start together share the lanes. */
const lanesPerLook = 50
/** Rows asked for at the front of each lane; one that has more reads on by itself. */
const firstRows = 32
const targetsEveryMs = 400
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
  /** Lanes that found no slot free, in the order in which they asked. */
  readonly #waiting = new Set<LaneWorker>()
  readonly #ending = new AbortController()
  #kicked = Promise.withResolvers<void>()
  #inFlight = 0
  #renewedAt = 0
  #aimedAt = 0
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

  takeSlot(worker: LaneWorker): boolean {
    if (this.#full) {
      this.#waiting.add(worker)
      return false
    }
    this.#inFlight += 1
    return true
  }

  /** The slot goes to the lane that has waited longest; one lane with much to send does not keep it from the others. */
  freeSlot(): void {
    this.#inFlight -= 1
    for (const worker of this.#waiting) {
      if (this.#full) return
      this.#waiting.delete(worker)
      worker.pump()
    }
  }

  get #full(): boolean {
    return this.#inFlight >= this.#use.settings.inFlightMax
  }

  pumpAll(): void {
    for (const worker of this.#lanes.values()) worker.pump()
  }

  async #lookAgainAndAgain(): Promise<void> {
    const ended = this.#ending.signal
    while (!ended.aborted) {
      const began = performance.now()
      this.#kicked = Promise.withResolvers<void>()
      try {
        await this.#look()
        const tookMs = performance.now() - began
        const gapMs = Math.min(lookGapMaxMs, Math.max(lookGapMs, tookMs))
        await sleep(gapMs, ended)
        if (gapMs < lookEveryMs) await this.#kickOr(lookEveryMs - gapMs)
      } catch (err) {
        this.#use.log.warn({ err }, 'the look for due deliveries failed and will be tried again')
        await sleep(failurePauseMs, ended)
      }
    }
  }

  async #kickOr(ms: number): Promise<void> {
    const woken = new AbortController()
    await Promise.race([sleep(ms, AbortSignal.any([woken.signal, this.#ending.signal])), this.#kicked.promise])
    woken.abort()
  }

  async #look(): Promise<void> {
    if (performance.now() - this.#renewedAt > renewEveryMs) await this.#renew()
    const [lanes] = await Promise.all([
      takeDueLanes(this.#use.db, this.#holder, leaseMs, this.#full ? 0 : lanesPerLook),
      this.#aimAll(),
    ])
    const due = lanes.map((lane) => this.#workerOf(lane))
    await this.#aim(due.filter((worker) => !worker.aimed))
    await this.#readFirst(due.filter((worker) => worker.hungry))
    this.pumpAll()
    await this.#giveBackIdle()
  }

  #workerOf(lane: Lane): LaneWorker {
    const key = keyOf(lane)
    let worker = this.#lanes.get(key)
    // A closed one ends what it has in flight first; the endpoint may have come back meanwhile.
    if (worker === undefined || (worker.closed && worker.idle)) {
      worker = new LaneWorker(lane, this.#use, this)
      this.#lanes.set(key, worker)
    }
    return worker
  }

  /** An address, a secret or a pause takes effect within half a second. */
  async #aimAll(): Promise<void> {
    if (performance.now() - this.#aimedAt < targetsEveryMs) return
    this.#aimedAt = performance.now()
    await this.#aim([...this.#lanes.values()].filter((worker) => !worker.closed))
  }

  async #aim(workers: readonly LaneWorker[]): Promise<void> {
    if (workers.length === 0) return
    const rows = await findTargets(this.#use.db, [...new Set(workers.map(({ lane }) => lane.endpoint_id))])
    const byId = new Map(rows.map((row) => [row.id, row]))
    for (const worker of workers) worker.aim(byId.get(worker.lane.endpoint_id))
  }

  async #readFirst(hungry: readonly LaneWorker[]): Promise<void> {
    if (hungry.length === 0) return
    for (const worker of hungry) worker.beginRead()
    let found: Awaited<ReturnType<typeof listDueFirst>> | null = null
    try {
      found = await listDueFirst(
        this.#use.db,
        hungry.map(({ lane }) => lane),
        firstRows,
      )
    } finally {
      const byLane = found === null ? null : Map.groupBy(found, keyOf)
      for (const worker of hungry)
        worker.endRead(byLane === null ? null : (byLane.get(keyOf(worker.lane)) ?? []), firstRows)
    }
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
    while ([...this.#lanes.values()].some((worker) => worker.sending) && performance.now() < deadline)
      await sleep(lookGapMs)
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
