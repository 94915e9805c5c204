import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteEval, retrieveEval } from '@switchyard/contracts/evals/evals.ts'
import { listOutputItems, retrieveOutputItem } from '@switchyard/contracts/evals/output-items.ts'
import {
  cancelEvalRunInPlace,
  deleteEvalRun,
  listEvalRuns,
  retrieveEvalRun,
  type EvalRun,
} from '@switchyard/contracts/evals/runs.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { lockRun } from '../store/runs.ts'
import { evalsKit, ticket } from '../testing/evals-kit.ts'

const boundMs = 20_000

test('runs and output items are read', async (t) => {
  const kit = await evalsKit(t)
  const { app } = kit
  app.double.decide((body) => (JSON.stringify(body).includes('Ticket 1') ? 'Software' : 'Hardware'))
  const { id: evalId } = await kit.newEval()
  const runs: EvalRun[] = []
  for (let at = 0; at < 3; at += 1) {
    runs.push(await kit.ended(await kit.start(evalId, [ticket(0), ticket(1), 'bad line', ticket(3)])))
  }
  const [first, second, third] = runs as [EvalRun, EvalRun, EvalRun]

  /** As if everything deleted had been deleted long ago. */
  const tenMinutesPass = async () => {
    for (const table of ['eval', 'run']) {
      await sql`update evals.${sql.raw(table)} set deleted_at = deleted_at - interval '10 minutes'`.execute(
        app.db.kysely,
      )
    }
  }

  await t.test('runs: oldest first, by page and by status', async () => {
    const list = async (query: Record<string, string>) => {
      const { body } = await app.call(listEvalRuns, { params: { eval_id: evalId }, query })
      return { ids: body.data.map(({ id }) => id), more: body.has_more }
    }
    assert.deepEqual(await list({}), { ids: runs.map(({ id }) => id), more: false })
    assert.deepEqual(await list({ limit: '2' }), { ids: [first.id, second.id], more: true })
    assert.deepEqual(await list({ after: second.id }), { ids: [third.id], more: false })
    assert.deepEqual(await list({ order: 'desc', limit: '1' }), { ids: [third.id], more: true })
    assert.deepEqual(await list({ status: 'failed' }), { ids: [], more: false })
    assert.deepEqual((await list({ status: 'completed' })).ids.length, 3)
    const { status } = await app.call(listEvalRuns, { params: { eval_id: evalId }, query: { after: 'evalrun_x' } })
    assert.equal(status, 400)
  })

  await t.test('a run under the id of another eval is not there (S1-4.7-c)', async () => {
    const { id: other } = await kit.newEval()
    const { status } = await app.call(retrieveEvalRun, { params: { eval_id: other, run_id: first.id } })
    assert.equal(status, 404)
  })

  await t.test('output items: in the order of the rows, by page and by status', async () => {
    const params = { eval_id: evalId, run_id: first.id }
    const list = async (query: Record<string, string>) => {
      const { body } = await app.call(listOutputItems, { params, query })
      return { rows: body.data.map(({ datasource_item_id: n }) => n), more: body.has_more, data: body.data }
    }
    const all = await list({})
    assert.deepEqual(all.rows, [0, 1, 2, 3])
    assert.deepEqual((await list({ order: 'desc', limit: '2' })).rows, [3, 2])
    assert.deepEqual((await list({ after: all.data[1]?.id ?? '', limit: '1' })).rows, [2])
    assert.deepEqual((await list({ status: 'fail' })).rows, [1])
    assert.deepEqual((await list({ status: 'pass', limit: '1' })).more, true)
    const id = all.data[1]?.id ?? ''
    const one = await app.call(retrieveOutputItem, { params: { ...params, output_item_id: id } })
    assert.deepEqual(one.body, all.data[1])
    const elsewhere = { ...params, run_id: second.id, output_item_id: id }
    assert.equal((await app.call(retrieveOutputItem, { params: elsewhere })).status, 404)
  })

  await t.test('a POST to the run cancels it, as older clients do; one that has ended stays as it is', async () => {
    const params = { eval_id: evalId, run_id: first.id }
    const { status, body } = await app.call(cancelEvalRunInPlace, { params })
    assert.deepEqual([status, body], [200, first])
  })

  await t.test('a deleted run is gone, its rows go after it; its place in the list stays for a while', async () => {
    const params = { eval_id: evalId, run_id: third.id }
    const { body } = await app.call(deleteEvalRun, { params })
    assert.deepEqual(body, { object: 'eval.run.deleted', deleted: true, run_id: third.id })
    assert.equal((await app.call(retrieveEvalRun, { params })).status, 404)
    assert.equal((await app.call(deleteEvalRun, { params })).status, 404)
    const left = async () => {
      const { rows } = await sql<{ place: string }>`
        select 'row' as place from evals.row where run_id = ${third.id}
        union all select 'result' from evals.result where run_id = ${third.id}
        union all select 'run ' || data_source::text from evals.run where id = ${third.id}`.execute(app.db.kysely)
      return rows.map(({ place }) => place).join()
    }
    assert.ok(await becomesTrue(async () => (await left()) === 'run {}', boundMs))
    const query = { after: third.id, order: 'desc' }
    const before = await app.call(listEvalRuns, { params: { eval_id: evalId }, query })
    assert.deepEqual([before.status, before.body.data], [200, [second, first]])
    await tenMinutesPass()
    assert.ok(await becomesTrue(async () => (await left()) === '', boundMs))
  })

  await t.test('a deleted eval takes its runs along, those under way end', async () => {
    app.double.decide(() => new Promise(() => undefined))
    const running = await kit.start(evalId, [ticket(0)])
    assert.ok(await becomesTrue(async () => (await kit.read(running)).status === 'in_progress', boundMs))
    const second = await kit.start(evalId, [ticket(0)])
    // Whoever holds a run meanwhile keeps nobody waiting, and is not waited for with others held.
    await app.db.tx(async (tx) => {
      await lockRun(tx, running.id)
      const { body } = await app.call(deleteEval, { params: { eval_id: evalId } })
      assert.deepEqual(body, { object: 'eval.deleted', deleted: true, eval_id: evalId })
    })
    assert.equal((await app.call(retrieveEval, { params: { eval_id: evalId } })).status, 404)
    assert.equal((await app.call(retrieveEvalRun, { params: { eval_id: evalId, run_id: first.id } })).status, 404)
    for (const { id } of [running, second]) {
      assert.ok(await becomesTrue(async () => (await kit.news(id)).length > 0, boundMs))
      assert.deepEqual(await kit.news(id), ['eval.run.canceled'])
    }
    const clear = async () => {
      const { rows } = await sql`
        select 1 from evals.row where run_id in (${running.id}, ${first.id})
        union all select 1 from evals.run where eval_id = ${evalId} and deleted_at is null`.execute(app.db.kysely)
      return rows.length === 0
    }
    assert.ok(await becomesTrue(clear, boundMs))
    await tenMinutesPass()
    const left = async () => {
      const { rows } = await sql`select 1 from evals.eval where id = ${evalId}`.execute(app.db.kysely)
      return rows.length
    }
    assert.ok(await becomesTrue(async () => (await left()) === 0, boundMs))
  })
})
