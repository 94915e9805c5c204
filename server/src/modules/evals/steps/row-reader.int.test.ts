import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '#platform/db/db.ts'
import { Superseded } from '#platform/durable/step-over.ts'
import { testDatabase } from '../../../../test/test-database.ts'
import { clearDeletedRun } from '../store/lifecycle.ts'
import type { EvalsTables } from '../store/tables.ts'
import { filledRun } from '../testing/filled-run.ts'
import { RowReader } from './row-reader.ts'

test('rows of a run are read whatever became of the rows of another', async (t) => {
  const { url, drop } = await testDatabase()
  const options = { connectionsMax: 2, statementTimeoutMs: 60_000, applicationName: 'test' }
  const whole = openDatabase({ ...options, url, onIdleError: () => undefined })
  t.after(async () => {
    await whole.close()
    await drop()
  })
  const filling = { projectId: 'proj_1', rows: 2, graded: 0, status: 'in_progress' } as const
  const { runId: kept } = await filledRun(whole, filling)
  const { runId: gone } = await filledRun(whole, filling)
  const db = whole.as<EvalsTables>()
  await sql`
    update evals.run set status = 'canceled', ended_at = now(), totals = '{}', deleted_at = now() where id = ${gone}`.execute(
    db.kysely,
  )
  await clearDeletedRun(db, 100)

  const reader = new RowReader(db)
  const both = await Promise.allSettled([reader.read(gone, 0), reader.read(kept, 1)])
  assert.ok(both[0].status === 'rejected' && both[0].reason instanceof Superseded)
  assert.equal(both[1].status === 'fulfilled' && both[1].value.n, 1)
})
