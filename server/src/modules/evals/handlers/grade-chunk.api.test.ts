import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelEvalRun } from '@switchyard/contracts/evals/runs.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { evalsKit, sampled, ticket } from '../testing/evals-kit.ts'

const boundMs = 20_000

test('rows of a run', async (t) => {
  const kit = await evalsKit(t)

  await t.test('each is sampled, judged once and counted (S1-1.5-b, S1-1.5-c, S1-3-h, S1-3-i)', async () => {
    kit.app.double.decide((body) => (JSON.stringify(body).includes('Ticket 1') ? 'Software' : 'Hardware'))
    const { id: evalId, testing_criteria: criteria } = await kit.newEval()
    const run = await kit.start(evalId, [ticket(0), ticket(1), ticket(2), ticket(3)])
    assert.equal(run.status, 'queued')
    const ended = await kit.ended(run)
    assert.equal(ended.status, 'completed')
    assert.deepEqual(ended.result_counts, { total: 4, errored: 0, failed: 1, passed: 3 })
    assert.deepEqual(ended.per_testing_criteria_results, [{ testing_criteria: criteria[0]?.id, passed: 3, failed: 1 }])
    assert.deepEqual(
      ended.per_model_usage?.map(({ invocation_count: count, prompt_tokens: prompt }) => [count, prompt > 0]),
      [[4, true]],
    )
    const items = await kit.items(run)
    assert.deepEqual(
      items.map(({ datasource_item_id: n, status }) => [n, status]),
      [
        [0, 'pass'],
        [1, 'fail'],
        [2, 'pass'],
        [3, 'pass'],
      ],
    )
    assert.deepEqual(items[1]?.sample.output, [{ role: 'assistant', content: 'Software' }])
    assert.deepEqual(await kit.news(run.id), ['eval.run.succeeded'])
  })

  await t.test('one that errs says why, and the others go on', async () => {
    kit.app.double.decide((body) => (JSON.stringify(body).includes('Ticket 1') ? { status: 400 } : 'Hardware'))
    const { id: evalId } = await kit.newEval()
    const rows = [ticket(0), ticket(1), 'no JSON', { item: { ticket: 'x' } }, { other: 1 }]
    const run = await kit.ended(await kit.start(evalId, rows))
    assert.deepEqual([run.status, run.result_counts], ['completed', { total: 5, errored: 4, failed: 0, passed: 1 }])
    const reasons = (await kit.items(run, { status: 'error' })).map(({ sample }) => sample.error)
    assert.deepEqual(
      reasons.map((reason) => reason?.code),
      ['provider_error', 'invalid_row', 'item_schema_mismatch', 'invalid_row'],
    )
    assert.match(reasons[1]?.message ?? '', /^Line 3: /)
    assert.match(reasons[2]?.message ?? '', /^Line 4: .*label/)
  })

  await t.test('cancel is noticed at once, and what was done is kept (S1-6-c, S3-6-c)', async () => {
    kit.app.double.decide(() => new Promise(() => undefined))
    const { id: evalId } = await kit.newEval()
    const run = await kit.start(evalId, [ticket(0), ticket(1)])
    assert.ok(await becomesTrue(async () => (await kit.read(run)).status === 'in_progress', boundMs))
    const params = { eval_id: evalId, run_id: run.id }
    const cancelled = await kit.app.call(cancelEvalRun, { params })
    assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'canceled'])
    assert.deepEqual((await kit.app.call(cancelEvalRun, { params })).body, cancelled.body)
    assert.deepEqual(await kit.news(run.id), ['eval.run.canceled'])
    const open = async () => {
      const { rows } = await sql`
        select n from evals.chunk where run_id = ${run.id} and status <> 'done'`.execute(kit.app.db.kysely)
      return rows.length
    }
    assert.equal(await open(), 0)
  })

  await t.test('a run without rows ends as failed and says so (S1-6-b)', async () => {
    kit.app.double.decide(() => 'Hardware')
    const { id: evalId } = await kit.newEval()
    const run = await kit.ended(await kit.create(evalId, { data_source: sampled(await kit.upload(['   '])) }))
    assert.deepEqual([run.status, run.error?.code], ['failed', 'empty_source'])
    assert.deepEqual(await kit.news(run.id), ['eval.run.failed'])
  })
})
