import { createHash } from 'node:crypto'
import type { Part } from '../lifecycle/module.ts'
import type { Log } from '../telemetry/log.ts'
import { createConnection } from './connection.ts'
import type { Connection, ValkeyClient } from './connection.ts'
import { createSubscriber } from './subscriber.ts'
import type { OnMessage, Subscriber } from './subscriber.ts'
import { asCacheError, CacheUnavailable } from './unavailable.ts'

export { CacheUnavailable } from './unavailable.ts'
export type { ValkeyClient } from './connection.ts'

export interface ValkeyOptions {
  /** `redis://user:password@host:port/db`; `rediss://` for TLS. */
  url: string
  log: Log
  commandTimeoutMs?: number
  connectTimeoutMs?: number
}

export type ScriptArgument = string | number | Buffer
export type ValkeyScript = (keys: readonly string[], args: readonly ScriptArgument[]) => Promise<unknown>

export interface Valkey {
  readonly state: 'up' | 'down'
  /** For commands. Its errors are the client's own; `call` tells "not there" from the rest. */
  readonly client: ValkeyClient
  /** Begins to connect. A server that is down does not stop the start: it is tried again for ever. */
  open(): Promise<void>
  /** Runs commands; throws CacheUnavailable, at once while it is down, when Valkey is not there to carry them out. */
  call<T>(fn: (client: ValkeyClient) => Promise<T>): Promise<T>
  ping(): Promise<void>
  /** A script by its hash. A server that has lost it gets it again. `bytes`: what it gives is not text. */
  script(name: string, lua: string, reply?: 'text' | 'bytes'): ValkeyScript
  /** Listens on a connection of its own, and again after every break. Returns how to end it. */
  subscribe(channel: string, onMessage: OnMessage, onResubscribed?: () => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

const COMMAND_TIMEOUT_MS = 250
const CONNECT_TIMEOUT_MS = 1000

export function createValkey(options: ValkeyOptions): Valkey {
  const { url, log, commandTimeoutMs = COMMAND_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
  const connect = (name: string) => createConnection({ url, log, commandTimeoutMs, connectTimeoutMs, name })
  const commands = connect('commands')
  const { client } = commands
  let listening: { connection: Connection; subscriber: Promise<Subscriber> } | undefined

  const call: Valkey['call'] = async (fn) => {
    if (!commands.up) throw new CacheUnavailable('Valkey is down')
    try {
      return await fn(client)
    } catch (error) {
      throw asCacheError(error)
    }
  }

  function listen() {
    const connection = connect('subscriptions')
    const subscriber = createSubscriber(connection, log)
    return { connection, subscriber: connection.open().then(() => subscriber) }
  }

  return {
    client,
    call,
    get state() {
      return commands.up ? 'up' : 'down'
    },
    open: () => commands.open(),
    ping: () => call(async () => void (await client.ping())),
    script: (name, lua, reply = 'text') => createScript(call, name, lua, reply === 'bytes'),
    async subscribe(channel, onMessage, onResubscribed) {
      listening ??= listen()
      return (await listening.subscriber).subscribe({ channel, onMessage, onResubscribed })
    },
    async close() {
      await Promise.all([commands.close(), listening?.connection.close()])
    },
  }
}

/** Valkey as a part of the program. Without it the program is degraded, not broken: it never holds the only copy. */
export function valkeyPart(valkey: Valkey): Part {
  return {
    name: 'valkey',
    start: () => valkey.open(),
    stop: () => valkey.close(),
    async ready() {
      try {
        await valkey.ping()
        return { ok: true }
      } catch (error) {
        if (error instanceof CacheUnavailable) return { ok: true, degraded: error.message }
        throw error
      }
    },
  }
}

function createScript(call: Valkey['call'], name: string, lua: string, bytes: boolean): ValkeyScript {
  const sha = createHash('sha1').update(lua).digest('hex')
  return async (keys, args) => {
    try {
      return await call((client) => evaluate(client, bytes, sha, lua, keys, args))
    } catch (error) {
      throw error instanceof CacheUnavailable ? error : new Error(`script ${name} failed`, { cause: error })
    }
  }
}

async function evaluate(
  client: ValkeyClient,
  bytes: boolean,
  sha: string,
  lua: string,
  keys: readonly string[],
  args: readonly ScriptArgument[],
): Promise<unknown> {
  try {
    if (bytes) return await client.callBuffer('EVALSHA', [sha, keys.length, ...keys, ...args])
    return await client.evalsha(sha, keys.length, ...keys, ...args)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    // Nothing has run yet, and running the text leaves it on the server for the next time.
    if (bytes) return await client.callBuffer('EVAL', [lua, keys.length, ...keys, ...args])
    return await client.eval(lua, keys.length, ...keys, ...args)
  }
}
