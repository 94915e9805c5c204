import type { Db } from '../db/db.ts'
import type { PlatformTables } from '../db/tables.ts'
import type { Tx } from '../db/tx.ts'
import type { Part } from '../lifecycle/module.ts'
import { assert } from '../std/assert.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { DurableCounts } from './counts.ts'
import type { Counts } from './counts.ts'
import type { Handler } from './handler.ts'
import { openIngress } from './ingress.ts'
import { countOutbox, insertOutbox } from './outbox.ts'
import type { NewSubmission } from './outbox.ts'
import { OwnSender } from './own-sender.ts'
import { checkPrefix } from './service-name.ts'
import { createWorkerParts } from './worker.ts'
import type { WorkerOptions } from './worker.ts'

export interface DurableOptions {
  readonly db: Db<PlatformTables>
  readonly log: Log
  readonly ingressUrl: string
  /** In front of every service name, so that several stacks can share one engine. */
  readonly prefix: string
  readonly metrics?: Metrics
  /** Requests to the engine at once, after a commit and in the relay each. */
  readonly sendsMax?: number
  readonly sendTimeoutMs?: number
}

export interface Durable {
  /**
   * Starts a step when the transaction commits, at the given time by PostgreSQL's clock or at once. The key names this
   * submission for ever: `<row id>:<generation>`, with a generation that no earlier submission of the row had.
   */
  submit<Uses, Input>(
    tx: Tx,
    handler: Handler<Uses, Input>,
    key: string,
    input: Input,
    when?: { readonly at?: Date },
  ): Promise<void>
  /** What was sent, re-sent and run by this process so far. */
  counts(): Counts
  /** For every role: sends what this process commits. Starts before and ends after everything that submits. */
  readonly sender: Part
  /** For the worker role: serves handlers, keeps them registered, relays and sweeps. In starting order. */
  worker(options: WorkerOptions): Part[]
}

const defaultSendsMax = 16
const defaultSendTimeoutMs = 5_000
const waitingMax = 10_000
const drainMs = 5_000
const keyLengthMax = 200

export function createDurable(options: DurableOptions): Durable {
  const { db, log, prefix, sendsMax = defaultSendsMax } = options
  checkPrefix(prefix)
  const counts = new DurableCounts(options.metrics)
  const ingress = openIngress({
    url: options.ingressUrl,
    prefix,
    connectionsMax: 2 * sendsMax,
    timeoutMs: options.sendTimeoutMs ?? defaultSendTimeoutMs,
  })
  const sender = new OwnSender({ db, ingress, log, counts, sendsMax, waitingMax })
  options.metrics?.gauge('durable_outbox_waiting_count', 'Rows in the outbox, at most 10,000.', [], () =>
    countOutbox(db),
  )
  const submitRows = async (tx: Tx, handler: string, rows: readonly NewSubmission[]): Promise<void> => {
    for (const { key } of rows) assert(key.length > 0 && key.length <= keyLengthMax, `key of ${handler}: ${key}`)
    const inserted = await insertOutbox(tx, handler, rows)
    tx.afterCommit(() => sender.push(inserted))
  }
  return {
    counts: () => counts.read(),
    submit: (tx, handler, key, input, { at } = {}) =>
      submitRows(tx, handler.name, [{ key, input, ...(at !== undefined && { at }) }]),
    sender: {
      name: 'durable sender',
      drain: () => sender.idle(drainMs),
      stop: () => ingress.close(),
      // Work is accepted without the engine, too: it waits in the outbox.
      ready: async () =>
        sender.accepted === false ? { ok: true, degraded: 'the engine took no submission' } : { ok: true },
    },
    worker: (worker) => createWorkerParts({ db, log, prefix, counts, ingress, sendsMax, submitRows }, worker),
  }
}
