import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from './engines/postgres.ts'

const POSTGRES_URL = 'SWITCHYARD_TEST_POSTGRES_URL'

export interface TestServices {
  env: Record<string, string>
  stop: () => Promise<void>
}

/** Real engines for the integration tests, in a folder of their own that goes when they stop. */
export async function startTestServices(): Promise<TestServices> {
  const given = process.env[POSTGRES_URL]
  if (given !== undefined) return { env: { [POSTGRES_URL]: given }, stop: async () => {} }
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-test-'))
  // When tests run as root, PostgreSQL runs as another user, who must be able to pass; the secrets inside are private.
  chmodSync(folder, 0o755)
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), fsync: false })
  return {
    env: { [POSTGRES_URL]: postgres.url },
    stop: async () => {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function main(): Promise<void> {
  const services = await startTestServices()
  for (const [name, value] of Object.entries(services.env)) console.log(`export ${name}='${value}'`)
  const end = () => {
    clearInterval(stay)
    void services.stop()
  }
  const stay = setInterval(() => {}, 60_000)
  process.once('SIGTERM', end)
  process.once('SIGINT', end)
}

if (import.meta.main) await main()
