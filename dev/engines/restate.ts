import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram, isProgram } from './find-program.ts'
import { freePort } from './free-port.ts'
import type { EngineHandle } from './handle.ts'
import { SupervisedProcess } from './process.ts'
import type { ProcessOptions } from './process.ts'
import { keepIdentity } from './restate-identity.ts'

const READY_BOUND_MS = 120_000
const STOP_BOUND_MS = 20_000
const PROBE_BOUND_MS = 1_000

export interface RestatePorts {
  ingress: number
  admin: number
  /** For its own nodes; nobody else uses it, but two servers on one machine must not share it. */
  fabric: number
}

export interface RestateOptions {
  /** Holds the engine's disk, its settings, the key it signs with and its log. */
  dataDir: string
  ports?: Partial<RestatePorts>
  logFile?: string
  /** Off only where losing everything in a crash of the machine is fine, as in tests. */
  fsync?: boolean
  onProgress?: ProcessOptions['onProgress']
  onUnexpectedExit?: ProcessOptions['onUnexpectedExit']
}

export interface Restate extends EngineHandle {
  readonly ingressUrl: string
  readonly adminUrl: string
  /** The public key of its signature, as services are given it. */
  readonly identityKey: string
  /** Stops it and deletes its disk; `restart` then starts an empty engine with the same key and ports. */
  wipe: () => Promise<void>
}

/** Starts a single Restate server of our own on 127.0.0.1. */
export async function startRestate(options: RestateOptions): Promise<Restate> {
  const dataDir = resolve(options.dataDir)
  const program = findRestate()
  if (program === null) throw new Error('restate-server was not found: run `npm ci`, which brings it for this machine')
  const disk = join(dataDir, 'disk')
  mkdirSync(disk, { recursive: true })
  // It spools here, and leaves the spool behind when it is killed.
  const temp = join(dataDir, 'temp')
  const identityFile = join(dataDir, 'identity.pem')
  const identityKey = keepIdentity(identityFile)
  const ports = await choosePorts(options.ports ?? {})
  const settings = join(dataDir, 'restate.toml')
  writeFileSync(settings, formatSettings(disk, identityFile, ports, options.fsync ?? true), { mode: 0o600 })

  const ingressUrl = `http://127.0.0.1:${ports.ingress}`
  const adminUrl = `http://127.0.0.1:${ports.admin}`
  const server = new SupervisedProcess(program, ['--config-file', settings, '--no-logo'], {
    name: 'restate',
    logFile: options.logFile ?? join(dataDir, 'restate.log'),
    pidFile: join(dataDir, 'restate.pid'),
    cwd: dataDir,
    env: cleanEnv(temp),
    stopBoundMs: STOP_BOUND_MS,
    ...(options.onProgress && { onProgress: options.onProgress }),
    ...(options.onUnexpectedExit && { onUnexpectedExit: options.onUnexpectedExit }),
  })
  const healthy = async () => (await isOk(`${adminUrl}/health`)) && (await isOk(`${ingressUrl}/restate/health`))
  const start = async () => {
    emptyFolder(temp)
    await server.start()
    await server.waitReady(healthy, READY_BOUND_MS)
  }
  await start()
  return {
    ingressUrl,
    adminUrl,
    identityKey,
    get pid() {
      return server.pid
    },
    stop: async () => await server.stop(),
    kill9: async () => await server.kill9(),
    restart: async () => {
      await server.stop()
      await start()
    },
    wipe: async () => {
      await server.stop()
      emptyFolder(disk)
    },
  }
}

/** The server's program: shipped by npm, else on PATH. */
export function findRestate(): string | null {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`
  try {
    const shipped = join(dirname(fileURLToPath(import.meta.resolve(`${name}/package.json`))), 'bin', 'restate-server')
    if (isProgram(shipped)) return shipped
  } catch {
    // npm has none for this machine; PATH may.
  }
  return findProgram('restate-server')
}

async function choosePorts(given: Partial<RestatePorts>): Promise<RestatePorts> {
  return {
    ingress: given.ingress ?? (await freePort()),
    admin: given.admin ?? (await freePort()),
    fabric: given.fabric ?? (await freePort()),
  }
}

// RESTATE_* variables of the caller's shell would override the settings file.
function cleanEnv(temp: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('RESTATE_'))
  return { ...Object.fromEntries(kept), DO_NOT_TRACK: '1', TMPDIR: temp }
}

function formatSettings(disk: string, identityFile: string, ports: RestatePorts, fsync: boolean): string {
  return `\
node-name = "dev"
cluster-name = "switchyard"
base-dir = ${JSON.stringify(disk)}
bind-ip = "127.0.0.1"
bind-port = ${ports.fabric}
# Unix sockets would fail in a deep checkout: their path may have 107 bytes.
listen-mode = "tcp"
default-num-partitions = 4
rocksdb-total-memory-size = "256MB"
disable-telemetry = true
log-format = "compact"
log-disable-ansi-codes = true
shutdown-timeout = "15s"

[worker.invoker]
request-identity-private-key-pem-file = ${JSON.stringify(identityFile)}
# A worker that is frozen, not gone, answers no ping: it is given up after 5 s (at most 6 with jitter) and 4 s.
http2-keep-alive-interval = "5s"
http2-keep-alive-timeout = "4s"
connect-timeout = "4s"

[ingress]
bind-port = ${ports.ingress}

[admin]
bind-port = ${ports.admin}
disable-web-ui = true

[log-server]
rocksdb-disable-wal-fsync = ${!fsync}
`
}

function emptyFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
}

async function isOk(url: string): Promise<boolean> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(PROBE_BOUND_MS) })
  await reply.body?.cancel()
  return reply.ok
}
