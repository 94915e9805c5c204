import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { sleep } from '../std/clock.ts'
import { openDatabase, type Database } from './db.ts'
import { statement } from './statement.ts'

const url = process.env['SWITCHYARD_TEST_POSTGRES_URL'] ?? ''
const one = statement<[], { one: number }>('test.one', 'select 1 as one')

async function connectionsNamed(name: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const found = await client.query<{ count: string }>(
      'select count(*) as count from pg_stat_activity where application_name = $1',
      [name],
    )
    return Number(found.rows[0]?.count)
  } finally {
    await client.end()
  }
}

/** The server hears of an end a moment after we do. */
const triesMax = 50
const betweenTriesMs = 20

async function becomesUnused(name: string): Promise<boolean> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    if ((await connectionsNamed(name)) === 0) return true
    await sleep(betweenTriesMs)
  }
  return false
}

const uses: Record<string, (db: Database) => Promise<void>> = {
  'named statements': async (db) => void (await db.run(one, [])),
  transactions: async (db) => db.tx(async () => undefined),
  nothing: async () => undefined,
}

for (const [what, use] of Object.entries(uses)) {
  test(`closing lets go of every connection, also after ${what} alone, so that a process can end`, async () => {
    const applicationName = `close ${what}`
    const onIdleError = (error: Error) => assert.fail(error)
    const db = openDatabase({ url, connectionsMax: 2, statementTimeoutMs: 5_000, applicationName, onIdleError })
    await use(db)
    await db.close()
    assert.ok(await becomesUnused(applicationName))
  })
}
