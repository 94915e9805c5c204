import { findTarget, listDue, type DueRow, type Lane } from '../store/lanes.ts'
import { judge } from './judge.ts'
import { send } from './send.ts'
import { openTarget, type Target } from './target.ts'
import type { DispatchUses } from './dispatch-uses.ts'

/** Rows read ahead of the slots; small, so that a changed address or secret takes effect soon. */
const readAhead = 64
const targetFreshMs = 500
/** An endpoint that fails keeps this many slots: enough to notice that it is back. */
const failingConcurrency = 2
const failuresBeforeCaution = 4

/** What a lane asks of the process it runs in. */
export interface LaneHost {
  /** A place among all requests of this process, or false. */
  takeSlot(): boolean
  freeSlot(): void
}

/** Sends the due deliveries of one endpoint's lane, as long as this process holds it. */
export class LaneWorker {
  readonly lane: Lane
  /** Since when nothing was found to do. */
  idleSince = performance.now()
  readonly #use: DispatchUses
  readonly #host: LaneHost
  readonly #inHand = new Set<string>()
  #buffer: DueRow[] = []
  #cursor: { due_at: string; event_id: string } | null = null
  #target: Target | null = null
  #targetAt = -Infinity
  #inFlight = 0
  #failuresInRow = 0
  #filling = false
  #closed = false

  constructor(lane: Lane, use: DispatchUses, host: LaneHost) {
    this.lane = lane
    this.#use = use
    this.#host = host
  }

  get idle(): boolean {
    return this.#inFlight === 0 && this.#inHand.size === 0 && this.#buffer.length === 0 && !this.#filling
  }

  /** No further attempt begins; those in flight end by themselves. */
  close(): void {
    this.#closed = true
    for (const { event_id: id } of this.#buffer) this.#inHand.delete(id)
    this.#buffer = []
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Fills free slots with due deliveries. Called whenever something may have changed. */
  pump(): void {
    while (!this.#closed && this.#inFlight < this.#concurrency() && !this.#use.writer.full && !this.#use.urgent.busy) {
      const row = this.#buffer.shift()
      if (row === undefined) {
        void this.#fill()
        return
      }
      if (this.#target === null || !this.#host.takeSlot()) {
        this.#buffer.unshift(row)
        return
      }
      this.#inFlight += 1
      void this.#attempt(row, this.#target)
    }
  }

  #concurrency(): number {
    return this.#failuresInRow >= failuresBeforeCaution ? failingConcurrency : this.#use.settings.endpointConcurrency
  }

  async #attempt(row: DueRow, target: Target): Promise<void> {
    const { outbound, clock, settings, writer } = this.#use
    const startedAt = clock.now()
    const sent = await send(outbound, target, { id: row.event_id, body: row.body }, startedAt)
    this.#failuresInRow = sent.delivered ? 0 : this.#failuresInRow + 1
    const attempting = { eventId: row.event_id, attempts: row.attempts, round: row.round, firstAt: row.first_at }
    const outcome = judge(attempting, target, sent, startedAt, clock.now(), settings.timeScale, Math.random())
    writer.add({ outcome, done: () => this.#inHand.delete(row.event_id) })
    this.#inFlight -= 1
    this.idleSince = performance.now()
    this.#host.freeSlot()
    this.pump()
  }

  async #fill(): Promise<void> {
    if (this.#filling || this.#closed) return
    this.#filling = true
    try {
      if (!(await this.#refreshTarget())) return
      const rows = await listDue(this.#use.db, this.lane, readAhead, this.#cursor)
      const last = rows.at(-1)
      // Read to the end: the next look begins at the front, where later commits with earlier times may have appeared.
      this.#cursor = rows.length === readAhead && last !== undefined ? last : null
      const fresh = rows.filter(({ event_id: id }) => !this.#inHand.has(id))
      for (const { event_id: id } of fresh) this.#inHand.add(id)
      if (!this.#closed) this.#buffer.push(...fresh)
      else for (const { event_id: id } of fresh) this.#inHand.delete(id)
    } catch (err) {
      this.#use.log.warn({ err, endpointId: this.lane.endpoint_id }, 'due deliveries could not be read')
    } finally {
      this.#filling = false
    }
    if (this.#buffer.length > 0) this.pump()
  }

  /** False when the endpoint takes nothing any more. */
  async #refreshTarget(): Promise<boolean> {
    if (performance.now() - this.#targetAt < targetFreshMs && this.#target !== null) return true
    const row = await findTarget(this.#use.db, this.lane.endpoint_id)
    if (row === null || row.status !== 'active') {
      this.close()
      return false
    }
    this.#target = openTarget(row, this.#use.sealer)
    this.#targetAt = performance.now()
    this.#use.health.learn(row.id, row.failing_since !== null)
    return true
  }
}
