import type { Db } from '../db/db.ts'
import type { PlatformTables } from '../db/tables.ts'
import type { Tx } from '../db/tx.ts'
import type { Part } from '../lifecycle/module.ts'
import { assert } from '../std/assert.ts'
import type { Log } from '../telemetry/log.ts'
import { Admin } from './admin.ts'
import type { DurableCounts } from './counts.ts'
import type { BoundHandler } from './handler.ts'
import type { Ingress } from './ingress.ts'
import type { NewSubmission } from './outbox.ts'
import { Registration } from './registration.ts'
import { relay } from './relay.ts'
import { StepServer } from './serve.ts'
import { engineService } from './services.ts'
import { sweep } from './sweep.ts'

export interface WorkerOptions {
  readonly adminUrl: string
  readonly handlers: readonly BoundHandler[]
  readonly identityKeys: readonly string[]
  readonly host: string
  /** One port for all workers of a machine; 0 lets the system choose. */
  readonly port: number
  /** Where the engine reaches this deployment, when that is not the host and port above. */
  readonly advertisedUri?: string
  readonly stepsMax?: number
  /** How long steps in hand may go on after the process was asked to end. */
  readonly drainMs?: number
  readonly relayEveryMs?: number
  readonly registrationEveryMs?: number
  readonly sweepEveryMs?: number
  readonly sweepLeaseMs?: number
}

export interface WorkerBase {
  readonly db: Db<PlatformTables>
  readonly log: Log
  readonly prefix: string
  readonly counts: DurableCounts
  readonly ingress: Ingress
  readonly sendsMax: number
  readonly submitRows: (tx: Tx, handler: string, rows: readonly NewSubmission[]) => Promise<void>
}

const defaults = {
  stepsMax: 128,
  drainMs: 30_000,
  relayEveryMs: 500,
  registrationEveryMs: 3_000,
  sweepEveryMs: 10_000,
  sweepLeaseMs: 30_000,
}
const adminTimeoutMs = 10_000

/** The worker role's parts, in starting order: listen, register, relay, sweep. They end in reverse. */
export function createWorkerParts(base: WorkerBase, options: WorkerOptions): Part[] {
  const { db, log, prefix, counts, ingress, sendsMax, submitRows } = base
  const { handlers } = options
  assert(new Set(handlers.map(({ name }) => name)).size === handlers.length, 'two handlers have the same name')
  const services = handlers.map((handler) => engineService(prefix, handler, { log, counts }))
  const admin = new Admin({ url: options.adminUrl, timeoutMs: adminTimeoutMs })
  const server = new StepServer({ ...options, services, log, stepsMax: options.stepsMax ?? defaults.stepsMax })
  let uri = options.advertisedUri
  const registration = new Registration({
    admin,
    log,
    counts,
    prefix,
    services,
    uri: () => uri ?? '',
    everyMs: options.registrationEveryMs ?? defaults.registrationEveryMs,
  })
  const serving: Part[] = [
    {
      name: 'durable steps',
      start: async () => {
        const port = await server.listen()
        uri ??= `http://${options.host}:${port}`
        log.info({ uri, handlers: handlers.length }, 'serving steps')
      },
      drain: () => server.drain(options.drainMs ?? defaults.drainMs),
      stop: async () => {
        await server.stop()
        await admin.close()
      },
    },
    registration.part(),
  ]
  return [
    // Without handlers there is nothing to serve or to register.
    ...(handlers.length > 0 ? serving : []),
    relay({ db, ingress, log, counts, everyMs: options.relayEveryMs ?? defaults.relayEveryMs, sendsMax }),
    sweep({
      db,
      log,
      counts,
      handlers,
      submitRows,
      everyMs: options.sweepEveryMs ?? defaults.sweepEveryMs,
      leaseMs: options.sweepLeaseMs ?? defaults.sweepLeaseMs,
    }),
  ]
}
