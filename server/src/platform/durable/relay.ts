import type { Db } from '../db/db.ts'
import type { PlatformTables } from '../db/tables.ts'
import type { Part } from '../lifecycle/module.ts'
import { backoff } from '../std/backoff.ts'
import { sleep } from '../std/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { DurableCounts } from './counts.ts'
import type { Ingress } from './ingress.ts'
import { postponeOutbox, removeFromOutbox, takeOutbox } from './outbox.ts'
import type { TakenSubmission } from './outbox.ts'

export interface RelayOptions {
  readonly db: Db<PlatformTables>
  readonly ingress: Ingress
  readonly log: Log
  readonly counts: DurableCounts
  readonly everyMs: number
  readonly sendsMax: number
}

const batchRowsMax = 100
/** Above the time that a batch takes. Were it not, a row would be sent twice, and the engine would know its key. */
const leaseMs = 10_000
const rowRetry = { baseMs: 500, maxMs: 10_000, factor: 2, jitter: 0.5 }
const loopRetry = { baseMs: 500, maxMs: 5_000, factor: 2, jitter: 0.5 }

/**
 * Sends what its committer could not: rows whose lease has passed. Any number of relays may run; a row belongs to one
 * of them at a time. No order is promised, and a row sent twice is one invocation, because the engine knows its key.
 */
export function relay(options: RelayOptions): Part {
  const ending = new AbortController()
  let loop: Promise<void> | null = null
  const end = async () => {
    ending.abort()
    await loop
  }
  return {
    name: 'durable relay',
    start: async () => {
      loop ??= relayUntil(options, ending.signal)
    },
    drain: end,
    stop: end,
  }
}

async function relayUntil(options: RelayOptions, ending: AbortSignal): Promise<void> {
  let failures = 0
  while (!ending.aborted) {
    try {
      const { taken, refused } = await relayOnce(options, ending)
      // When nothing at all got through, the engine is away: taking further rows would only turn them over.
      failures = taken > 0 && refused === taken ? failures + 1 : 0
      if (taken === batchRowsMax && failures === 0) continue
    } catch (err) {
      failures += 1
      options.log.warn({ err, failures }, 'the relay could not read the outbox and will try again')
    }
    await sleep(failures === 0 ? options.everyMs : backoff(loopRetry, failures, Math.random), ending)
  }
}

async function relayOnce(options: RelayOptions, ending: AbortSignal): Promise<{ taken: number; refused: number }> {
  const { db, log, counts } = options
  const rows = await takeOutbox(db, batchRowsMax, leaseMs)
  if (rows.length === 0) return { taken: 0, refused: 0 }
  const sent: string[] = []
  const later: { id: string; waitMs: number }[] = []
  let lastError: unknown
  await eachAtMost(options.sendsMax, rows, async (row) => {
    // A hanging engine would otherwise hold the whole batch, one timeout after the other.
    const hopeless = sent.length === 0 && later.length >= options.sendsMax
    try {
      if (!hopeless && !ending.aborted) {
        await options.ingress.send(row)
        sent.push(row.id)
        return
      }
    } catch (err) {
      lastError = err
    }
    // On the way out, rows go back at once: another relay need not wait for the lease.
    later.push({ id: row.id, waitMs: ending.aborted ? 0 : backoff(rowRetry, row.tries, Math.random) })
  })
  counts.add('relayed', sent.length)
  counts.add('relayFailed', later.length)
  if (sent.length > 0) await removeFromOutbox(db, sent)
  if (later.length > 0) await postponeOutbox(db, later)
  if (later.length > 0) log.warn({ err: lastError, sent: sent.length, later: later.length }, 'relay: engine refused')
  else log.info({ sent: sent.length }, 'relay sent what its committer had left')
  return { taken: rows.length, refused: later.length }
}

async function eachAtMost(
  concurrency: number,
  rows: readonly TakenSubmission[],
  work: (row: TakenSubmission) => Promise<void>,
): Promise<void> {
  const waiting = [...rows]
  const lane = async () => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) await work(row)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, rows.length) }, lane))
}
