import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { enginesFolder } from './engines-folder.ts'
import { freePort } from './free-port.ts'
import type { EngineHandle } from './handle.ts'
import { SupervisedProcess } from './process.ts'
import type { ProcessOptions } from './process.ts'
import { keepSecret } from './secret-file.ts'
import { libraryEnv } from './unpacked-folder.ts'
import { findValkey, unpackValkey } from './valkey-program.ts'

const READY_BOUND_MS = 20_000
const PROBE_BOUND_MS = 1_000

export interface ValkeyOptions {
  /** Holds the settings, the password and the log. */
  dataDir: string
  port?: number
  logFile?: string
  /** Keep the content over restarts. Off by default: it is a cache, and code must live with losing it. */
  persist?: boolean
  /** Where an unpacked engine is looked for and put. */
  enginesDir?: string
  onProgress?: ProcessOptions['onProgress']
  onUnexpectedExit?: ProcessOptions['onUnexpectedExit']
}

export interface Valkey extends EngineHandle {
  readonly url: string
  readonly port: number
  readonly version: string
}

/** Starts a Valkey server of our own on 127.0.0.1, unpacking it first where the machine has none. */
export async function startValkey(options: ValkeyOptions): Promise<Valkey> {
  const dataDir = resolve(options.dataDir)
  const enginesDir = options.enginesDir ?? enginesFolder()
  const program = findValkey(enginesDir) ?? (await unpackValkey(enginesDir, options.onProgress))
  mkdirSync(dataDir, { recursive: true })
  const password = keepSecret(join(dataDir, 'password'))
  const port = options.port ?? (await freePort())
  const settings = join(dataDir, 'valkey.conf')
  // In a file, not on the command line, where every user of the machine could read the password.
  writeFileSync(settings, formatSettings(dataDir, port, password, options.persist ?? false), { mode: 0o600 })

  const server = new SupervisedProcess(program.path, [settings], {
    name: 'valkey',
    logFile: options.logFile ?? join(dataDir, 'valkey.log'),
    pidFile: join(dataDir, 'valkey.pid'),
    cwd: dataDir,
    env: { ...process.env, ...libraryEnv(program.libraries) },
    ...(options.onProgress && { onProgress: options.onProgress }),
    ...(options.onUnexpectedExit && { onUnexpectedExit: options.onUnexpectedExit }),
  })
  const start = async () => {
    await server.start()
    await server.waitReady(async () => await answersPing(port, password), READY_BOUND_MS)
  }
  await start()
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    port,
    version: program.version,
    get pid() {
      return server.pid
    },
    stop: async () => await server.stop(),
    kill9: async () => await server.kill9(),
    restart: async () => {
      await server.stop()
      await start()
    },
  }
}

function formatSettings(dataDir: string, port: number, password: string, persist: boolean): string {
  const settings = [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir "${dataDir}"`,
    'daemonize no',
    'maxmemory 512mb',
    'maxmemory-policy allkeys-lru',
    persist ? 'appendonly yes' : 'appendonly no',
    'save ""',
  ]
  return `${settings.join('\n')}\n`
}

async function answersPing(port: number, password: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: PROBE_BOUND_MS })
    let said = ''
    const answer = (ready: boolean) => {
      socket.destroy()
      resolve(ready)
    }
    socket.setEncoding('utf8')
    socket.once('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`))
    socket.on('data', (text) => {
      said += String(text)
      if (said.includes('+PONG')) answer(true)
      else if (said.includes('-')) answer(false)
    })
    socket.once('timeout', () => answer(false))
    socket.once('error', () => answer(false))
    socket.once('close', () => answer(false))
  })
}
