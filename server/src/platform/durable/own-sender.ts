import type { Db } from '../db/db.ts'
import type { PlatformTables } from '../db/tables.ts'
import { sleep } from '../std/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { DurableCounts } from './counts.ts'
import type { Ingress, Submission } from './ingress.ts'
import { removeFromOutbox } from './outbox.ts'

export interface OwnSenderOptions {
  readonly db: Db<PlatformTables>
  readonly ingress: Ingress
  readonly log: Log
  readonly counts: DurableCounts
  readonly sendsMax: number
  /** Rows that may wait in this process. More are left to the relay, which finds them in the outbox. */
  readonly waitingMax: number
}

const removedAtOnceMax = 500
/** A row belongs to its committer for two seconds. One that waited here for nearly as long is left to the relay. */
const ownForMs = 1_500
const idlePollMs = 10

/**
 * Sends what this process has just committed, then removes it from the outbox. Everything here may be lost at any
 * moment: the rows stay until the engine has said yes, and the relay takes what is left.
 */
export class OwnSender {
  readonly #options: OwnSenderOptions
  readonly #waiting: Submission[] = []
  readonly #sent: string[] = []
  #sending = 0
  #removing = false
  /** Whether the engine took the last thing that was sent; null before the first. */
  accepted: boolean | null = null

  constructor(options: OwnSenderOptions) {
    this.#options = options
  }

  /** Called after the commit. Never throws. */
  push(submissions: readonly Submission[]): void {
    const room = Math.max(0, this.#options.waitingMax - this.#waiting.length)
    this.#waiting.push(...submissions.slice(0, room))
    this.#options.counts.add('leftToRelay', Math.max(0, submissions.length - room))
    while (this.#sending < this.#options.sendsMax && this.#waiting.length > 0) void this.#sendWaiting()
  }

  /** Waits until everything pushed so far has left, or the bound has passed. */
  async idle(boundMs: number): Promise<void> {
    const deadline = performance.now() + boundMs
    while (this.#busy() && performance.now() < deadline) await sleep(idlePollMs)
  }

  #busy(): boolean {
    return this.#waiting.length > 0 || this.#sending > 0 || this.#removing
  }

  async #sendWaiting(): Promise<void> {
    this.#sending += 1
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (performance.now() - next.readAtMs > ownForMs) this.#options.counts.add('leftToRelay')
      else await this.#send(next)
    }
    this.#sending -= 1
  }

  async #send(submission: Submission): Promise<void> {
    const { ingress, log, counts } = this.#options
    try {
      await ingress.send(submission)
      this.accepted = true
      counts.add('sentAtCommit')
      this.#sent.push(submission.id)
      if (!this.#removing) void this.#removeSent()
    } catch (err) {
      // One line when the engine goes away, not one per submission.
      if (this.accepted !== false) log.warn({ err, handler: submission.handler }, 'the engine took no submission')
      this.accepted = false
      counts.add('leftToRelay')
    }
  }

  // One statement at a time; what is sent meanwhile goes with the next, so a burst costs few statements.
  async #removeSent(): Promise<void> {
    this.#removing = true
    while (this.#sent.length > 0) {
      const ids = this.#sent.splice(0, removedAtOnceMax)
      try {
        await removeFromOutbox(this.#options.db, ids)
      } catch (err) {
        // The relay will send them once more, and the engine will recognise their keys.
        this.#options.log.warn({ err, rows: ids.length }, 'sent submissions stay in the outbox')
      }
    }
    this.#removing = false
  }
}
