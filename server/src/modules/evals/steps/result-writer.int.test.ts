import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Superseded } from '#platform/durable/step-over.ts'
import { sql } from 'kysely'
import { testApp } from '../../../../test/test-app.ts'
import type { NewResult } from '../store/results.ts'
import type { EvalsTables } from '../store/tables.ts'
import { ResultWriter } from './result-writer.ts'
import { RowMeter } from './row-meter.ts'

const runId = 'evalrun_writer'

test('results of rows', async (t) => {
  const app = await testApp(t)
  const db = app.db.as<EvalsTables>()
  await sql`
    insert into evals.chunk (run_id, n, project_id, first_row, last_row, status, attempt)
    values (${runId}, 0, 'proj_1', 0, 99, 'submitted', 2), (${runId}, 1, 'proj_1', 100, 199, 'submitted', 1)`.execute(
    app.db.kysely,
  )
  const writer = new ResultWriter({ db, limits: app.wired.limits })
  /** Of these calls, those that the ledger has, each as often as it has them. */
  const recorded = async (...ids: string[]) => {
    const { rows: found } = await sql<{ id: string }>`
      select request_id as id from limits.usage where request_id = any(${ids}) order by id`.execute(app.db.kysely)
    return found.map(({ id }) => id)
  }
  const result = (n: number, more: Partial<NewResult> = {}): NewResult => ({
    runId,
    n,
    chunk: 0,
    attempt: 2,
    status: 'pass',
    passed: [true, null],
    sample: {},
    results: [],
    usage: [],
    ...more,
  })
  const metered = (requestId: string) => {
    const meter = new RowMeter()
    const tokens = { input: 1, cached: 0, output: 1 }
    const entry = {
      orgId: app.org.id,
      projectId: app.project.id,
      keyId: null,
      turn: 0,
      model: 'm',
      batch: false,
    } as const
    meter.add([{ ...entry, requestId, operation: 'responses', outcome: 'completed', tokens }], () => undefined)
    return meter
  }
  const { signal } = new AbortController()
  const rows = async () => {
    const found = await sql<{ n: number }>`select n from evals.result where run_id = ${runId} order by n`.execute(
      app.db.kysely,
    )
    return found.rows.map(({ n }) => n)
  }

  await t.test('are written together, each with what it used', async () => {
    await Promise.all([
      writer.keep(result(0), metered('a'), signal),
      writer.keep(result(1), metered('b'), signal),
      writer.keep(result(100, { chunk: 1, attempt: 1 }), metered('c'), signal),
    ])
    assert.deepEqual(
      [await rows(), await recorded('a', 'b', 'c')],
      [
        [0, 1, 100],
        ['a', 'b', 'c'],
      ],
    )
  })

  await t.test('of another attempt are not written; what they used is', async () => {
    const meter = metered('d')
    await assert.rejects(writer.keep(result(2, { attempt: 1 }), meter, signal), Superseded)
    await meter.recordAlone(app.wired.limits, signal)
    assert.deepEqual([await rows(), await recorded('d')], [[0, 1, 100], ['d']])
  })

  await t.test('that are there already are not counted twice', async () => {
    await writer.keep(result(0), metered('e'), signal)
    assert.deepEqual(await recorded('e'), [])
  })

  await t.test('that PostgreSQL refuses fail alone', async () => {
    const bad = { passed: ['nonsense' as unknown as boolean] }
    const outcomes = await Promise.allSettled([
      writer.keep(result(3), metered('f'), signal),
      writer.keep(result(4, bad), metered('g'), signal),
      writer.keep(result(5), metered('h'), signal),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(
      [await rows(), await recorded('f', 'g', 'h')],
      [
        [0, 1, 3, 5, 100],
        ['f', 'h'],
      ],
    )
  })
})
