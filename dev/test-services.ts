import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from './engines/postgres.ts'
import { startRestate } from './engines/restate.ts'
import { startValkey } from './engines/valkey.ts'
import { reapStaleProcess, recordedProcessLives, recordProcess } from './processes.ts'

const FOLDER_PREFIX = 'switchyard-test-'
const OWNER_FILE = 'owner.pid'
const STAY_MS = 60_000

const NAMES = [
  'SWITCHYARD_TEST_POSTGRES_URL',
  'SWITCHYARD_TEST_VALKEY_URL',
  'SWITCHYARD_TEST_RESTATE_INGRESS_URL',
  'SWITCHYARD_TEST_RESTATE_ADMIN_URL',
  'SWITCHYARD_TEST_RESTATE_IDENTITY_KEY',
] as const

export type TestEnv = Record<(typeof NAMES)[number], string>

export interface TestServices {
  env: TestEnv
  stop: () => Promise<void>
}

/**
 * Real engines for the integration tests, in a folder of their own that goes when they stop. When the environment
 * already names running ones, those are used and left alone.
 */
export async function startTestServices(): Promise<TestServices> {
  const given = findGivenEnv()
  if (given !== null) return { env: given, stop: async () => {} }
  await removeAbandonedFolders()
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX))
  recordProcess(join(folder, OWNER_FILE), process.pid)
  // When tests run as root, PostgreSQL runs as another user, who must be able to pass; the secrets inside are private.
  chmodSync(folder, 0o755)
  return await startEngines(folder)
}

function findGivenEnv(): TestEnv | null {
  const entries = NAMES.map((name) => [name, process.env[name] ?? ''] as const)
  return entries.every(([, value]) => value !== '') ? (Object.fromEntries(entries) as TestEnv) : null
}

async function startEngines(folder: string): Promise<TestServices> {
  const engines = await Promise.allSettled([
    startPostgres({ dataDir: join(folder, 'postgres'), fsync: false }),
    startValkey({ dataDir: join(folder, 'valkey') }),
    startRestate({ dataDir: join(folder, 'restate'), fsync: false }),
  ])
  const stop = async () => {
    await Promise.all(engines.map(async (engine) => engine.status === 'fulfilled' && (await engine.value.stop())))
    rmSync(folder, { recursive: true, force: true })
  }
  const [postgres, valkey, restate] = engines
  if (postgres.status !== 'fulfilled' || valkey.status !== 'fulfilled' || restate.status !== 'fulfilled') {
    const failures = engines.flatMap((engine) => (engine.status === 'rejected' ? [engine.reason as Error] : []))
    await stop()
    throw new AggregateError(failures, failures.map((failure) => failure.message).join('\n'))
  }
  const env = {
    SWITCHYARD_TEST_POSTGRES_URL: postgres.value.url,
    SWITCHYARD_TEST_VALKEY_URL: valkey.value.url,
    SWITCHYARD_TEST_RESTATE_INGRESS_URL: restate.value.ingressUrl,
    SWITCHYARD_TEST_RESTATE_ADMIN_URL: restate.value.adminUrl,
    SWITCHYARD_TEST_RESTATE_IDENTITY_KEY: restate.value.identityKey,
  }
  return { env, stop }
}

/** A run that was killed leaves its engines and its folder; the next run ends and removes them. */
async function removeAbandonedFolders(): Promise<void> {
  const names = readdirSync(tmpdir()).filter((name) => name.startsWith(FOLDER_PREFIX))
  for (const folder of names.map((name) => join(tmpdir(), name))) {
    if (recordedProcessLives(join(folder, OWNER_FILE)) !== false) continue
    for (const engine of ['postgres', 'valkey', 'restate']) {
      await reapStaleProcess(join(folder, engine, `${engine}.pid`), 'SIGINT')
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts the services, prints how to use them, and stays until asked to end. */
async function main(): Promise<void> {
  const stay = setInterval(() => {}, STAY_MS)
  const starting = startTestServices()
  const end = () => {
    clearInterval(stay)
    starting.then(
      async (services) => await services.stop(),
      () => {},
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, end)
  try {
    const { env } = await starting
    console.log(NAMES.map((name) => `export ${name}='${env[name]}'`).join('\n'))
  } catch (error) {
    clearInterval(stay)
    throw error
  }
}

if (import.meta.main) await main()
