import type { InsertedDue } from '../store/events.ts'
import type { DispatchUses } from './dispatch-uses.ts'
import { judge } from './judge.ts'
import { send } from './send.ts'
import { openTarget } from './target.ts'

/** How long the rows of an urgent event belong to the process that committed it. */
export const urgentLeaseMs = 6_000
/** Bulk sending does not yield longer than this, however many urgent events come. */
const yieldMs = 1_000
const sendsMax = 200

/** Sends urgent events right after their commit, from the process that committed them. */
export class UrgentSender {
  readonly #use: Omit<DispatchUses, 'urgent'>
  readonly #sending = new Set<Promise<void>>()
  #busySince: number | null = null
  /** Told when bulk sending may go on. */
  onCalm: () => void = () => undefined

  constructor(use: Omit<DispatchUses, 'urgent'>) {
    this.#use = use
  }

  get busy(): boolean {
    return this.#busySince !== null && performance.now() - this.#busySince < yieldMs
  }

  /** Sends what was just committed. Beyond the bound, and after a crash, the lanes find the rows when their lease has passed. */
  push(rows: readonly InsertedDue[], bodyOf: (eventId: string) => string): void {
    for (const row of rows) {
      if (this.#sending.size >= sendsMax) return
      this.#busySince ??= performance.now()
      const sending = this.#send(row, bodyOf(row.event_id)).finally(() => {
        this.#sending.delete(sending)
        if (this.#sending.size > 0) return
        this.#busySince = null
        this.onCalm()
      })
      this.#sending.add(sending)
    }
  }

  async idle(): Promise<void> {
    await Promise.allSettled(this.#sending)
  }

  async #send(row: InsertedDue, body: string): Promise<void> {
    const { log, outbound, sealer, clock, writer, health, settings } = this.#use
    try {
      if (row.target.status !== 'active') return
      const target = openTarget(row.target, sealer)
      // Another process may have seen it fail meanwhile; then a success here must be told.
      health.learn(row.endpoint_id, row.target.failing_since !== null)
      const startedAt = clock.now()
      const sent = await send(outbound, target, { id: row.event_id, body }, startedAt)
      const attempting = { eventId: row.event_id, attempts: 0, round: 0, firstAt: null }
      const outcome = judge(attempting, target, sent, startedAt, clock.now(), settings.timeScale, Math.random())
      writer.add({ outcome, done: () => undefined })
    } catch (err) {
      log.warn({ err, endpointId: row.endpoint_id }, 'urgent delivery is left to the lanes')
    }
  }
}
