import type { Db } from '../db/db.ts'
import { dueSweep } from '../db/due-sweep.ts'
import type { PlatformTables } from '../db/tables.ts'
import type { Tx } from '../db/tx.ts'
import type { Part } from '../lifecycle/module.ts'
import type { Log } from '../telemetry/log.ts'
import type { DurableCounts } from './counts.ts'
import type { BoundHandler } from './handler.ts'
import { countWaiting } from './outbox.ts'
import type { NewSubmission } from './outbox.ts'

export interface SweepOptions {
  readonly db: Db<PlatformTables>
  readonly log: Log
  readonly counts: DurableCounts
  readonly handlers: readonly BoundHandler[]
  readonly submitRows: (tx: Tx, handler: string, rows: readonly NewSubmission[]) => Promise<void>
  readonly everyMs: number
  readonly leaseMs: number
}

/** Of one handler in one sweep. Without it, work that is only slow would be submitted faster than it can be done. */
const rowsPerHandlerMax = 1_000
/** While so many rows wait to be sent, nothing can be told to be lost; the relay has to get through first. */
const congestedRowsMin = 1_000

/**
 * Re-submits work that should be under way and has not moved. A lost outbox row, a killed invocation, a vanished
 * deployment and the loss of the engine's whole disk are one case to it.
 */
export function sweep(options: SweepOptions): Part {
  return dueSweep({
    name: 'durable.sweep',
    everyMs: options.everyMs,
    leaseMs: options.leaseMs,
    db: options.db,
    log: options.log,
    run: async ({ signal }) => {
      if ((await countWaiting(options.db)) >= congestedRowsMin) {
        options.log.warn('nothing is swept while the outbox is full')
        return 0
      }
      const failures: unknown[] = []
      for (const handler of options.handlers) {
        signal.throwIfAborted()
        try {
          await sweepHandler(options, handler)
        } catch (err) {
          // One module's broken query must not keep the others' work from being found.
          failures.push(err)
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, 'some handlers could not be swept')
      // Never "go on at once": the bound above is for the whole interval.
      return 0
    },
  })
}

async function sweepHandler({ db, log, counts, submitRows }: SweepOptions, handler: BoundHandler): Promise<void> {
  const rows = await db.tx(async (tx) => {
    const found = await handler.outstanding(tx, rowsPerHandlerMax)
    if (found.length > 0) await submitRows(tx, handler.name, found)
    return found.length
  })
  counts.add('swept', rows)
  if (rows > 0) log.warn({ handler: handler.name, rows }, 'sweep re-submitted work that had stopped moving')
}
