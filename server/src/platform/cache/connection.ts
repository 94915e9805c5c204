import { Redis, type Command } from 'iovalkey'
import { backoff } from '../std/backoff.ts'
import type { Log } from '../telemetry/log.ts'

export type ValkeyClient = Redis

export interface ConnectionOptions {
  /** `redis://user:password@host:port/db`; `rediss://` for TLS. */
  url: string
  log: Log
  commandTimeoutMs: number
  connectTimeoutMs: number
  /** Names the connection in the log and in the server's CLIENT LIST. */
  name: string
}

export interface Connection {
  readonly client: ValkeyClient
  readonly up: boolean
  /** Begins to connect, and goes on trying for ever. Resolves when it is up or the first try has failed. */
  open(): Promise<void>
  close(): Promise<void>
}

const RECONNECT = { baseMs: 50, maxMs: 1000, factor: 2, jitter: 0.2 }
/** A ping this often, so that a server that hangs or a connection cut without a word is noticed without traffic. */
const HEARTBEAT_MS = 1000
/** Silence for this many command timeouts, with a reply owed, means that the connection is dead. */
const SILENT_TIMEOUTS_MAX = 8

/** A connection that never queues: while it is down commands fail at once, and it comes back by itself. */
export function createConnection(options: ConnectionOptions): Connection {
  const { log, name } = options
  const client = createClient(options)
  let up = false
  let downSince = performance.now()
  let lastError: Error | undefined
  let heartbeat: NodeJS.Timeout | undefined

  client.on('error', (error: Error) => (lastError = error))
  client.on('ready', () => {
    up = true
    lastError = undefined
    log.info({ connection: name, downMs: Math.round(performance.now() - downSince) }, 'valkey up')
  })
  client.on('close', () => {
    // Every failed try to reconnect closes too; only the first tells something new.
    if (up) log.warn({ connection: name, err: lastError }, 'valkey down')
    if (up) downSince = performance.now()
    up = false
  })

  return {
    client,
    get up() {
      return up
    },
    async open() {
      heartbeat ??= setInterval(() => {
        // A missing answer ends the connection by its silence, which is logged there.
        if (up) client.ping().catch(() => undefined)
      }, HEARTBEAT_MS).unref()
      try {
        await client.connect()
      } catch (err) {
        log.warn({ connection: name, err: lastError ?? err }, 'valkey not there yet')
      }
    },
    close() {
      clearInterval(heartbeat)
      return end(client)
    },
  }
}

/**
 * A process that is busy for longer than the timeout finds timers due before it reads what has long arrived. So a timeout
 * first lets the sockets be read, and is one only if the answer was not among that.
 */
class PatientRedis extends Redis {
  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    command.setTimeout = (ms: number) => {
      const end = () => {
        if (!command.isResolved) command.reject(new Error('Command timed out'))
      }
      // Under the name by which the command itself clears it.
      Object.assign(command, { _commandTimeoutTimer: setTimeout(() => setImmediate(end), ms) })
    }
    return super.sendCommand(command, stream)
  }
}

function createClient(options: ConnectionOptions): ValkeyClient {
  return new PatientRedis(options.url, {
    lazyConnect: true,
    connectionName: options.name,
    connectTimeout: options.connectTimeoutMs,
    commandTimeout: options.commandTimeoutMs,
    socketTimeout: options.commandTimeoutMs * SILENT_TIMEOUTS_MAX,
    enableOfflineQueue: false,
    // A command whose reply was lost may have been carried out: it fails, and its sender decides.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // The client's own way leaves a rejected promise behind when the connection breaks while it subscribes again.
    autoResubscribe: false,
    retryStrategy: (attempt) => backoff(RECONNECT, attempt, Math.random),
  })
}

async function end(client: ValkeyClient): Promise<void> {
  if (client.status === 'end') return
  const ended = new Promise<void>((resolve) => void client.once('end', resolve))
  client.disconnect()
  // Between two tries there is no socket whose end could be reported.
  if (client.status === 'reconnecting' || client.status === 'wait') return
  await ended
}
