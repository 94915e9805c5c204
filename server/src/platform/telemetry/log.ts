import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'

import { errorView } from './error-view.ts'
import { prettyLine } from './pretty-line.ts'
import { scrubLine } from './scrub-line.ts'

export type Log = Logger
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export interface LogOptions {
  level: LogLevel
  /** For people at a terminal. Machines get JSON lines. */
  pretty: boolean
  name: string
  /** Where lines go instead of standard output. */
  destination?: DestinationStream
}

const STDOUT = 1
/** Lines gather until this many bytes wait, so that a line per request is not a system call per request. */
const WRITE_BYTES_MIN = 4096
const FLUSH_EVERY_MS = 1000
/** What may wait for a reader of standard output that has stopped reading. Further lines are dropped, not kept. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024

/** The program's log. Secrets are taken out of the finished line, so no field, message or stack can carry one out. */
export function createLog(options: LogOptions): Log {
  return pino(
    {
      level: options.level,
      base: { name: options.name, pid: process.pid },
      serializers: { err: errorView, error: errorView },
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: options.pretty ? (line) => prettyLine(scrubLine(line)) : scrubLine },
    },
    options.destination ?? standardOutput(),
  )
}

/** Resolves once every line so far has left this process. */
export function flushLog(log: Log): Promise<void> {
  return new Promise((resolve, reject) => {
    log.flush((error) => (error === undefined || error === null ? resolve() : reject(error)))
  })
}

/** The one way to go on after an error on purpose. It says why, and leaves a line behind. */
export async function mayFail<T>(log: Log, why: string, fn: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await fn()
  } catch (err) {
    log.warn({ err, why }, 'went on after a failure')
    return undefined
  }
}

function standardOutput(): DestinationStream {
  return pino.destination({
    dest: STDOUT,
    sync: false,
    minLength: WRITE_BYTES_MIN,
    maxLength: WAITING_BYTES_MAX,
    periodicFlush: FLUSH_EVERY_MS,
  })
}
