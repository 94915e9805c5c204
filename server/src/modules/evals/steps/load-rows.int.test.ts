import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreateDataSourceConfig } from '@switchyard/contracts/evals/data-sources.ts'
import { newFile } from '#modules/files/testing/files-kit.ts'
import { sql } from 'kysely'
import { testApp } from '../../../../test/test-app.ts'
import { claimLoading } from '../store/lifecycle.ts'
import type { EvalsTables } from '../store/tables.ts'
import { sampled, ticket, ticketEval } from '../testing/evals-kit.ts'
import { ItemSchemas } from './item-schemas.ts'
import { loadRows } from './load-rows.ts'

const runId = 'evalrun_loaded'
const rowsTotal = 1_700

test('a load that is broken off goes on where it was, and checks no item again', async (t) => {
  const app = await testApp(t)
  const db = app.db.as<EvalsTables>()
  const lines = Array.from({ length: rowsTotal }, (_, at) => JSON.stringify(ticket(at)))
  const options = { fields: { purpose: 'evals' }, filename: 'rows.jsonl' }
  const source = sampled((await newFile(app, lines.join('\n'), options)).id)
  await sql`
    insert into evals.run (id, eval_id, org_id, project_id, key_id, name, metadata, data_source)
    values (${runId}, 'eval_1', ${app.org.id}, ${app.project.id}, 'key_1', 'run', '{}', ${JSON.stringify(source)})`.execute(
    app.db.kysely,
  )
  const itemSchemas = new ItemSchemas()
  t.after(async () => await itemSchemas.part.stop?.())
  const checked: number[] = []
  const load = async (signal: AbortSignal, afterGroup: () => void) => {
    const run = await claimLoading(db, runId)
    assert.ok(run)
    const check: ItemSchemas['check'] = async (schema, items) => {
      checked.push(items.length)
      const reasons = await itemSchemas.check(schema, items)
      afterGroup()
      return reasons
    }
    const { files, inference, responses } = app.wired
    const use = { db, files, inference, responses, itemSchemas: { check }, rowsMax: rowsTotal }
    return await loadRows(use, run, ticketEval.data_source_config as unknown as CreateDataSourceConfig, signal)
  }
  const cut = new AbortController()
  await assert.rejects(load(cut.signal, () => checked.length === 2 && cut.abort()))
  assert.deepEqual(checked, [500, 500])
  assert.equal(await load(new AbortController().signal, () => undefined), rowsTotal)
  assert.deepEqual(checked, [500, 500, 500, 200])
  const { rows } = await sql<{ n: number; ticket: string }>`
    select n, item ->> 'ticket' as ticket from evals.row where run_id = ${runId} order by n`.execute(app.db.kysely)
  assert.deepEqual(
    rows,
    Array.from({ length: rowsTotal }, (_, n) => ({ n, ticket: `Ticket ${n}` })),
  )
})
