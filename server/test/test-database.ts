import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrate, readMigrations } from '#platform/db/migrate.ts'
import { migrationsFolder } from '../src/migrations-folder.ts'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Any fixed number: test files that need the template at the same time meet on it. */
const templateLock = 7_215_002

function serverUrl(): string {
  const url = process.env['SWITCHYARD_TEST_POSTGRES_URL']
  if (url === undefined)
    throw new Error('No test services. Run through `npm run test:int`, or `node dev/test-services.ts`.')
  return url
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

async function asAdmin<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: serverUrl() })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** A migrated database that every test file clones: a clone costs tens of milliseconds, migrating costs more. */
async function ensureTemplate(client: pg.Client): Promise<string> {
  const migrations = await readMigrations(migrationsFolder)
  const digest = createHash('sha256')
    .update(migrations.map(({ sha256 }) => sha256).join())
    .digest('hex')
  const name = `template_${digest.slice(0, 16)}`
  await client.query('select pg_advisory_lock($1)', [templateLock])
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount === 1) return name
    await client.query(`create database ${name}_making`)
    await migrate({ url: withDatabase(serverUrl(), `${name}_making`), folder: migrationsFolder })
    await client.query(`alter database ${name}_making rename to ${name}`)
    return name
  } finally {
    await client.query('select pg_advisory_unlock($1)', [templateLock])
  }
}

export async function testDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await asAdmin(async (client) => {
    const template = await ensureTemplate(client)
    await client.query(`create database ${name} template ${template}`)
  })
  return {
    url: withDatabase(serverUrl(), name),
    drop: () => asAdmin(async (client) => void (await client.query(`drop database if exists ${name} with (force)`))),
  }
}
