import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { CompiledQuery, sql, type Kysely } from 'kysely'
import { openDatabase, type Db } from '#platform/db/db.ts'
import { testDatabase } from '../../../../test/test-database.ts'
import { filledRun } from '../testing/filled-run.ts'
import { findNeighbour, listReportRows } from './report-rows.ts'
import type { EvalsTables } from './tables.ts'

const rowsMany = 100_000
const limit = 50
/** Pages of the database that one page of a report may look at: fifty rows, and the way to them. */
const blocksMax = 800

async function database(t: TestContext) {
  const { url, drop } = await testDatabase()
  const options = { connectionsMax: 2, statementTimeoutMs: 60_000, applicationName: 'test' }
  const db = openDatabase({ ...options, url, onIdleError: () => undefined })
  t.after(async () => {
    await db.close()
    await drop()
  })
  return db
}

interface Plan {
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
}

/** The same database, which says of each query how it was carried out. */
function explaining({ kysely }: Pick<Db<EvalsTables>, 'kysely'>) {
  const plans: { blocks: number; text: string }[] = []
  const executor = {
    ...kysely.getExecutor(),
    adapter: kysely.getExecutor().adapter,
    transformQuery: kysely.getExecutor().transformQuery.bind(kysely.getExecutor()),
    compileQuery: kysely.getExecutor().compileQuery.bind(kysely.getExecutor()),
    async executeQuery(query: CompiledQuery) {
      const asked = CompiledQuery.raw(`explain (analyze, buffers, format json) ${query.sql}`, [...query.parameters])
      const { rows } = await kysely.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>(asked)
      const plan = rows[0]?.['QUERY PLAN'][0].Plan as Plan
      plans.push({ blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], text: JSON.stringify(plan) })
      return await kysely.executeQuery(query)
    },
  }
  const watched = { getExecutor: () => executor } as unknown as Kysely<EvalsTables>
  return { db: { kysely: watched } as Db<EvalsTables>, plans }
}

test('a page of a report reads as much of a long run as of a short one', async (t) => {
  const whole = await database(t)
  const { runId } = await filledRun(whole, { projectId: 'proj_1', rows: rowsMany })
  await filledRun(whole, { projectId: 'proj_1', rows: 1_000 })
  for (const statistics of ['none', 'fresh']) {
    if (statistics === 'fresh') await whole.kysely.executeQuery(CompiledQuery.raw('analyze'))
    const { db, plans } = explaining(whole.as<EvalsTables>())
    const middle = { status: 'pass', n: 51_234 } as const
    const pages = [
      { show: null, from: null, way: 'after' },
      { show: null, from: middle, way: 'after' },
      { show: null, from: middle, way: 'before' },
      { show: 'fail', from: null, way: 'after' },
      { show: 'fail', from: { status: 'fail', n: 60_003 }, way: 'before' },
      { show: 'error', from: { status: 'error', n: 99_000 }, way: 'after' },
    ] as const
    for (const page of pages) {
      const rows = await listReportRows(db, runId, { ...page, limit })
      assert.ok(rows.length > 0)
      await findNeighbour(db, runId, page)
    }
    for (const { blocks, text } of plans) {
      assert.ok(blocks <= blocksMax, `${blocks} blocks with ${statistics} statistics: ${text.slice(0, 4_000)}`)
      assert.match(text, /"Index Name":"result_by_status"/)
      assert.doesNotMatch(text, /Seq Scan/)
    }
  }
})

test('a page of a report shows rows whose texts PostgreSQL cannot read', async (t) => {
  const whole = await database(t)
  const { runId } = await filledRun(whole, { projectId: 'proj_1', rows: 60 })
  const db = whole.as<EvalsTables>()
  const sample = {
    input: [{ role: 'user', content: 'a\u0000b' }],
    output: [{ role: 'assistant', content: 'half of \ud83d, all of 😀, \\u0000 as text' }],
    error: { code: 'grader_error', message: 'No text: \u0000, \udc00, 😀, \\u0000.' },
  }
  await sql`update evals.result set sample = ${JSON.stringify(sample)} where run_id = ${runId} and n = 7`.execute(
    db.kysely,
  )
  const page = { show: 'error', from: null, way: 'after', limit } as const
  const [first] = await listReportRows(db, runId, page)
  assert.deepEqual([first?.n, first?.sample], [7, sample])
  assert.equal(first?.reason, 'No text: \ufffd, \ufffd, 😀, \\ufffd.')
})
