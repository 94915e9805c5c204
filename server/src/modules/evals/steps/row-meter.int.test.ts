import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresGate } from '#platform/db/testing/postgres-gate.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { testApp } from '../../../../test/test-app.ts'
import { testDatabase } from '../../../../test/test-database.ts'
import type { EvalsTables } from '../store/tables.ts'
import { ResultWriter } from './result-writer.ts'
import { RowMeter } from './row-meter.ts'

const runId = 'evalrun_metered'
const boundMs = 20_000

// S1-3-i
test('what a row used is in the ledger once, though PostgreSQL was away when its result was written', async (t) => {
  const database = await testDatabase()
  t.after(() => database.drop())
  const gate = await postgresGate(t, database.url)
  const app = await testApp(t, { SWITCHYARD_POSTGRES_URL: gate.url })
  await sql`
    insert into evals.chunk (run_id, n, project_id, first_row, last_row, status, attempt)
    values (${runId}, 0, 'proj_1', 0, 99, 'submitted', 1)`.execute(app.db.kysely)
  const writer = new ResultWriter({ db: app.db.as<EvalsTables>(), limits: app.wired.limits })
  const stays = new AbortController().signal
  const metered = (requestId: string) => {
    const meter = new RowMeter()
    const entry = { orgId: app.org.id, projectId: app.project.id, keyId: null, requestId, model: 'm', batch: false }
    const tokens = { input: 1, cached: 0, output: 1 }
    const more = { operation: 'responses', outcome: 'completed', tokens } as const
    meter.add(
      [0, 1].map((turn) => ({ ...entry, ...more, turn })),
      () => undefined,
    )
    return meter
  }
  const keep = (n: number, meter: RowMeter, signal: AbortSignal) => {
    const judged = { status: 'pass', passed: [true], sample: {}, results: [], usage: [] } as const
    return writer.keep({ runId, n, chunk: 0, attempt: 1, ...judged }, meter, signal)
  }
  const kept = async (requestId: string) => {
    const { rows } = await sql<{ turn: number }>`
      select turn from limits.usage where request_id = ${requestId} order by turn`.execute(app.db.kysely)
    return rows.map(({ turn }) => turn)
  }
  const results = async () => {
    const { rows } = await sql<{ n: number }>`
      select n from evals.result where run_id = ${runId} order by n`.execute(app.db.kysely)
    return rows.map(({ n }) => n)
  }

  await t.test('for longer than the row could wait', async () => {
    const meter = metered('away')
    gate.close()
    const called = new AbortController()
    const writing = keep(0, meter, called.signal)
    called.abort()
    await assert.rejects(writing)
    let tries = 0
    const limits = {
      recordOnce: async (...asked: Parameters<typeof app.wired.limits.recordOnce>) => {
        tries += 1
        await app.wired.limits.recordOnce(...asked)
      },
    }
    const recording = meter.recordAlone(limits, stays)
    assert.ok(await becomesTrue(() => tries > 2, boundMs))
    gate.open()
    await recording
    assert.deepEqual([await results(), await kept('away')], [[], [0, 1]])
  })

  await t.test('and nobody heard that it had been written', async () => {
    const meter = metered('unheard')
    gate.closeAtCommit()
    const called = new AbortController()
    const writing = keep(1, meter, called.signal)
    called.abort()
    await assert.rejects(writing)
    gate.open()
    assert.deepEqual([await results(), await kept('unheard')], [[1], [0, 1]])
    await meter.recordAlone(app.wired.limits, stays)
    assert.deepEqual(await kept('unheard'), [0, 1])
  })
})
