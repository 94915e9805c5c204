import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { endProcess, listProcessesIn, reapStaleProcess } from '../processes.ts'
import { chooseAccount, giveFolder } from './account.ts'
import type { Account } from './account.ts'
import { freePort } from './free-port.ts'
import type { EngineHandle } from './handle.ts'
import { findPostgresPrograms } from './postgres-programs.ts'
import type { PostgresPrograms } from './postgres-programs.ts'
import { SupervisedProcess } from './process.ts'
import type { ProcessOptions } from './process.ts'
import { keepSecret } from './secret-file.ts'
import { becomesTrue } from './wait-until.ts'

const READY_BOUND_MS = 60_000
// SIGTERM would wait for every client to leave; SIGINT ends their sessions and shuts down in order.
const STOP_SIGNAL = 'SIGINT'
const STOP_BOUND_MS = 20_000
const INITDB_BOUND_MS = 120_000
const ORPHANS_BOUND_MS = 500
const MAX_CONNECTIONS = 200
const USER = 'switchyard'
const DATABASE = 'switchyard'

export interface PostgresOptions {
  /** Holds the cluster, its password and its log; made on first use and used again later. */
  dataDir: string
  port?: number
  logFile?: string
  /** Off only where losing everything in a crash of the machine is fine, as in tests. */
  fsync?: boolean
  onProgress?: ProcessOptions['onProgress']
  onUnexpectedExit?: ProcessOptions['onUnexpectedExit']
}

export interface Postgres extends EngineHandle {
  readonly url: string
  readonly port: number
}

interface Cluster {
  folder: string
  programs: PostgresPrograms
  account: Account
}

/** Starts a PostgreSQL server of our own on 127.0.0.1. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const dataDir = resolve(options.dataDir)
  const programs = findPostgresPrograms()
  if (programs === null) throw new Error('PostgreSQL was not found: run `npm ci`, or install the package postgresql')

  mkdirSync(dataDir, { recursive: true })
  const folder = join(dataDir, 'cluster')
  const cluster: Cluster = { folder, programs, account: chooseAccount([folder, programs.postgres]) }
  const password = keepSecret(join(dataDir, 'password'))
  if (!existsSync(folder)) {
    options.onProgress?.(`postgres: making a new cluster in ${folder}`)
    initialise(cluster, dataDir, password, options.fsync ?? true)
  }
  giveFolder(folder, cluster.account.owner)

  const port = options.port ?? (await freePort())
  const pidFile = join(dataDir, 'postgres.pid')
  const server = serverProcess(cluster, pidFile, port, options)
  const start = async () => {
    await reapStaleProcess(pidFile, STOP_SIGNAL)
    await clearCrash(folder)
    await server.start()
    await server.waitReady(() => isReady(folder, server.pid), READY_BOUND_MS)
  }
  await start()

  return {
    url: `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`,
    port,
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

function serverProcess(cluster: Cluster, pidFile: string, port: number, options: PostgresOptions): SupervisedProcess {
  const { programs, folder, account } = cluster
  const fsync = options.fsync ?? true
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    // No socket file: a path in a deep checkout would pass the 107 bytes that a socket's name may have.
    unix_socket_directories: '',
    max_connections: MAX_CONNECTIONS,
    shared_buffers: '128MB',
    ...(!fsync && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const [command = programs.postgres, ...args] = [...account.wrapper, programs.postgres, '-D', folder, ...flags]
  return new SupervisedProcess(command, args, {
    name: 'postgres',
    logFile: options.logFile ?? join(dirname(pidFile), 'postgres.log'),
    pidFile,
    cwd: '/',
    env: cleanEnv(),
    stopSignal: STOP_SIGNAL,
    stopBoundMs: STOP_BOUND_MS,
    ...(account.uid !== undefined && { uid: account.uid }),
    ...(account.gid !== undefined && { gid: account.gid }),
    ...(options.onProgress && { onProgress: options.onProgress }),
    ...(options.onUnexpectedExit && { onUnexpectedExit: options.onUnexpectedExit }),
  })
}

// PG* variables of the caller's shell would change what initdb and the server do.
function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG')))
}

/** Makes the cluster beside its final name and renames it when complete, so that half a cluster is never started. */
function initialise(cluster: Cluster, dataDir: string, password: string, fsync: boolean): void {
  const draft = mkdtempSync(join(dataDir, 'init-'))
  try {
    const passwordFile = join(draft, 'password')
    const folder = join(draft, 'cluster')
    mkdirSync(folder, { mode: 0o700 })
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
    giveFolder(draft, cluster.account.owner)
    const { initdb, postgres } = cluster.programs
    const auth = [`--username=${USER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
    const format = ['--encoding=UTF8', '--no-locale', '--no-instructions', ...(fsync ? [] : ['--no-sync'])]
    runAs(cluster.account, initdb, [...auth, ...format, '-D', folder])
    runAs(
      cluster.account,
      postgres,
      ['--single', '-c', `fsync=${fsync ? 'on' : 'off'}`, '-D', folder, 'postgres'],
      `create database ${DATABASE};\n`,
    )
    renameSync(folder, cluster.folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function runAs(account: Account, program: string, programArgs: string[], input = ''): void {
  const [command = program, ...args] = [...account.wrapper, program, ...programArgs]
  const ended = spawnSync(command, args, {
    cwd: '/',
    input,
    env: cleanEnv(),
    encoding: 'utf8',
    timeout: INITDB_BOUND_MS,
    ...(account.uid !== undefined && { uid: account.uid }),
    ...(account.gid !== undefined && { gid: account.gid }),
  })
  if (ended.status === 0) return
  const said = `${ended.stdout ?? ''}${ended.stderr ?? ''}`.trim()
  throw new Error(`${program} failed as ${account.name}: ${said}`, { cause: ended.error })
}

/**
 * After a kill -9 of the server, its backends live on for a moment and hold the shared memory that a new server needs,
 * and the lock file names a pid that may by now be somebody else's. Backends work inside the cluster's folder, which
 * tells them apart from everything else.
 */
async function clearCrash(folder: string): Promise<void> {
  const gone = await becomesTrue(() => listProcessesIn(folder).length === 0, ORPHANS_BOUND_MS)
  if (!gone)
    await Promise.all(listProcessesIn(folder).map(async (pid) => await endProcess(pid, 'SIGQUIT', ORPHANS_BOUND_MS)))
  if (existsSync('/proc/self/cwd')) rmSync(join(folder, 'postmaster.pid'), { force: true })
}

// The server itself writes "ready" into the eighth line of its lock file; pg_ctl waits for the same.
function isReady(folder: string, pid: number): boolean {
  const lines = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready'
}
