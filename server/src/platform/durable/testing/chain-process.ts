import { sql } from 'kysely'
import { openDatabase } from '../../db/db.ts'
import type { Database } from '../../db/db.ts'
import type { Part } from '../../lifecycle/module.ts'
import { sleep } from '../../std/clock.ts'
import { createLog } from '../../telemetry/log.ts'
import type { LogLevel } from '../../telemetry/log.ts'
import { createDurable } from '../durable.ts'
import type { Durable } from '../durable.ts'
import { bind } from '../handler.ts'
import { addPiece, chainHandler } from './chain.ts'
import type { ChainOptions } from './chain.ts'

/** What a process of the chain is told, as JSON in its only argument. */
export interface ChainProcessOptions extends ChainOptions {
  readonly databaseUrl: string
  readonly ingressUrl: string
  readonly adminUrl: string
  readonly identityKey: string
  readonly prefix: string
  /** A worker's port; a submitter has none. */
  readonly port?: number
  readonly sweepEveryMs?: number
  readonly sweepLeaseMs?: number
  readonly drainMs?: number
  readonly stepsMax?: number
  readonly logLevel?: LogLevel
  /** A submitter adds these pieces, p-<from> up to p-<to>, one after the other in a few lanes, then stays. */
  readonly pieces?: { readonly from: number; readonly to: number; readonly everyMs: number }
}

const reportEveryMs = 200
const connectionsMax = 16
const statementTimeoutMs = 10_000
const submitLanes = 4
const retryMs = 200

async function main(options: ChainProcessOptions): Promise<void> {
  const log = createLog({
    level: options.logLevel ?? 'warn',
    pretty: false,
    name: options.worker,
    destination: process.stderr,
  })
  const database = openDatabase({
    url: options.databaseUrl,
    connectionsMax,
    statementTimeoutMs,
    applicationName: options.worker,
    onIdleError: () => {},
  })
  const { databaseUrl: _, ...engine } = options
  const durable = createDurable({ db: database.as(), log, ...engine })
  const parts = [durable.sender, ...(options.port === undefined ? [] : workerParts(database, durable, options))]
  for (const part of parts) await part.start?.()
  const ending = new AbortController()
  process.once('SIGTERM', () => ending.abort())
  say({ ready: true })
  const reporting = setInterval(() => say({ counts: durable.counts() }), reportEveryMs)
  if (options.pieces !== undefined) await submitPieces(database, durable, options, options.pieces, ending.signal)
  await new Promise<void>((resolve) => {
    if (ending.signal.aborted) resolve()
    else ending.signal.addEventListener('abort', () => resolve())
  })
  for (const part of parts.toReversed()) await part.drain?.()
  for (const part of parts.toReversed()) await part.stop?.()
  clearInterval(reporting)
  say({ counts: durable.counts() })
  await database.close()
}

function workerParts(database: Database, durable: Durable, options: ChainProcessOptions): Part[] {
  const chain = chainHandler(options)
  const bound = bind(chain, { db: database, submitNext: (tx, key, input) => durable.submit(tx, chain, key, input) })
  return durable.worker({
    adminUrl: options.adminUrl,
    handlers: [bound],
    identityKeys: [options.identityKey],
    host: '127.0.0.1',
    port: options.port ?? 0,
    ...(options.sweepEveryMs !== undefined && { sweepEveryMs: options.sweepEveryMs }),
    ...(options.sweepLeaseMs !== undefined && { sweepLeaseMs: options.sweepLeaseMs }),
    ...(options.drainMs !== undefined && { drainMs: options.drainMs }),
    ...(options.stepsMax !== undefined && { stepsMax: options.stepsMax }),
  })
}

/** Behaves as a client that retries until it is told yes: a piece whose commit was not heard of is looked up first. */
async function submitPieces(
  database: Database,
  durable: Durable,
  options: ChainProcessOptions,
  { from, to, everyMs }: { from: number; to: number; everyMs: number },
  signal: AbortSignal,
): Promise<void> {
  const chain = chainHandler(options)
  let next = from
  const lane = async () => {
    for (let at = next++; at <= to && !signal.aborted; at = next++) {
      const piece = `p-${at}`
      let added = false
      while (!signal.aborted) {
        try {
          const { rows } = await sql`select 1 from chain.piece where id = ${piece}`.execute(database.kysely)
          added = rows.length === 0
          if (added) await addPiece(database, durable, chain, piece)
          break
        } catch {
          await sleep(retryMs, signal)
        }
      }
      if (added) await sleep(everyMs, signal)
    }
  }
  await Promise.all(Array.from({ length: submitLanes }, lane))
  say({ submitted: true })
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? '{}') as ChainProcessOptions)
