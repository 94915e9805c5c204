import { sleep } from '#platform/std/clock.ts'
import { listDueAfter, type DueCursor, type DueRow, type Lane, type TargetRow } from '../store/lanes.ts'
import type { DispatchUses } from './dispatch-uses.ts'
import { judge } from './judge.ts'
import { Pace } from './pace.ts'
import { send } from './send.ts'
import { openTarget, type Target } from './target.ts'

/** Rows read ahead of the slots, and how few of them are left when the next are asked for. */
const readAhead = 128
const lowWater = 64
/** Nothing is sent on older knowledge of where to and with which secrets. */
const targetStaleMs = 2_000

/** What a lane asks of the process it runs in. */
export interface LaneHost {
  /** A place among all requests of this process. When there is none, the lane is pumped once it is its turn. */
  takeSlot(worker: LaneWorker): boolean
  freeSlot(): void
}

/** Sends the due deliveries of one endpoint's lane, as long as this process holds it. */
export class LaneWorker {
  readonly lane: Lane
  /** Since when nothing was found to do. */
  idleSince = performance.now()
  readonly #use: DispatchUses
  readonly #host: LaneHost
  readonly #pace: Pace
  readonly #inHand = new Set<string>()
  /** Written while a read was under way, which may have seen them as they were before. */
  readonly #writtenMeanwhile = new Set<string>()
  #buffer: DueRow[] = []
  /** Where the lane goes on; null when it was read to its end. */
  #cursor: DueCursor | null = null
  #target: Target | null = null
  #targetAt = -Infinity
  #inFlight = 0
  #reading = false
  #closed = false

  constructor(lane: Lane, use: DispatchUses, host: LaneHost) {
    this.lane = lane
    this.#use = use
    this.#host = host
    this.#pace = new Pace(use.settings.endpointConcurrency, use.settings.timeScale)
  }

  get idle(): boolean {
    return this.#inFlight === 0 && this.#inHand.size === 0 && this.#buffer.length === 0 && !this.#reading
  }

  /** It has free slots and knows of nothing to put there: its first due rows are wanted. */
  get hungry(): boolean {
    const known = this.#buffer.length > 0 || this.#cursor !== null || this.#reading
    return !this.#closed && !known && this.#inFlight < this.#pace.concurrency
  }

  get closed(): boolean {
    return this.#closed
  }

  /** It knows where to send. */
  get aimed(): boolean {
    return this.#target !== null
  }

  get sending(): boolean {
    return this.#inFlight > 0
  }

  /** No further attempt begins; those in flight end by themselves. */
  close(): void {
    this.#closed = true
    for (const { event_id: id } of this.#buffer) this.#inHand.delete(id)
    this.#buffer = []
  }

  /** Where to send from now on. An endpoint that takes nothing any more closes the lane. */
  aim(row: TargetRow | undefined): void {
    if (row?.status !== 'active') {
      this.close()
      return
    }
    if (this.#target === null && row.failing_since !== null) this.#pace.beCautious()
    this.#target = openTarget(row, this.#use.sealer, this.#target)
    this.#targetAt = performance.now()
    this.#use.health.learn(row.id, row.failing_since !== null)
  }

  /** A read of due rows begins; `endRead` must follow. */
  beginRead(): void {
    this.#reading = true
    this.#writtenMeanwhile.clear()
  }

  /** Takes what was read, up to `limit` rows; null when the read failed. */
  endRead(rows: readonly DueRow[] | null, limit: number): void {
    this.#reading = false
    if (rows === null || this.#closed) return
    const last = rows.at(-1)
    // Read to the end: the next read begins at the front, where later commits with earlier times may have appeared.
    this.#cursor = rows.length === limit && last !== undefined ? last : null
    for (const row of rows) {
      if (this.#inHand.has(row.event_id) || this.#writtenMeanwhile.has(row.event_id)) continue
      this.#inHand.add(row.event_id)
      this.#buffer.push(row)
    }
    this.pump()
  }

  /** Fills free slots with due deliveries. Called whenever something may have changed. */
  pump(): void {
    const fresh = performance.now() - this.#targetAt < targetStaleMs
    while (fresh && this.#maySend()) {
      const [row] = this.#buffer
      if (row === undefined || this.#target === null || !this.#host.takeSlot(this)) break
      this.#buffer.shift()
      this.#inFlight += 1
      void this.#attempt(row, this.#target)
    }
    if (this.#cursor !== null && this.#buffer.length <= lowWater) void this.#readOn(this.#cursor)
  }

  #maySend(): boolean {
    const { writer, urgent } = this.#use
    return !this.#closed && this.#inFlight < this.#pace.concurrency && !writer.full && !urgent.busy
  }

  async #attempt(row: DueRow, target: Target): Promise<void> {
    const { outbound, clock, settings, writer } = this.#use
    const startedAt = clock.now()
    const sent = await send(outbound, target, { id: row.event_id, body: row.body }, startedAt)
    const attempting = { eventId: row.event_id, attempts: row.attempts, round: row.round, firstAt: row.first_at }
    const outcome = judge(attempting, target, sent, startedAt, clock.now(), settings.timeScale, Math.random())
    writer.add({ outcome, done: () => this.#written(row.event_id) })
    this.#host.freeSlot()
    const pauseMs = this.#pace.after(sent.delivered)
    if (pauseMs > 0) await sleep(pauseMs)
    this.#inFlight -= 1
    this.idleSince = performance.now()
    this.pump()
  }

  #written(eventId: string): void {
    this.#inHand.delete(eventId)
    if (this.#reading) this.#writtenMeanwhile.add(eventId)
  }

  async #readOn(after: DueCursor): Promise<void> {
    if (this.#reading || this.#closed) return
    this.beginRead()
    let rows: DueRow[] | null = null
    try {
      rows = await listDueAfter(this.#use.db, this.lane, readAhead, after)
    } catch (err) {
      this.#use.log.warn({ err, endpointId: this.lane.endpoint_id }, 'due deliveries could not be read')
    }
    this.endRead(rows, readAhead)
  }
}
