import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { evalsKit, sampled, ticket } from '../testing/evals-kit.ts'

const boundMs = 60_000

test('a run whose source cannot be read', async (t) => {
  const kit = await evalsKit(t)
  const { id: evalId } = await kit.newEval()

  await t.test('ends at once when the content of its file is gone (S1-6-b)', async () => {
    const file = await kit.upload([ticket(0)])
    const { rows } = await sql<{ blob: string }>`
      select blob from files.piece where file_id = ${file}`.execute(kit.app.db.kysely)
    for (const { blob } of rows) await kit.app.wired.blobs.remove(blob)
    const run = await kit.ended(await kit.create(evalId, { data_source: sampled(file) }))
    assert.deepEqual([run.status, run.error?.code], ['failed', 'source_unreadable'])
    assert.deepEqual(await kit.news(run.id), ['eval.run.failed'])
  })

  await t.test('ends after many attempts, whatever kept it from being read', async () => {
    await sql`alter table evals.run alter column attempt set default 200`.execute(kit.app.db.kysely)
    const run = await kit.ended(await kit.start(evalId, [ticket(0)]))
    assert.deepEqual([run.status, run.error?.code], ['failed', 'source_unreadable'])
    assert.match(run.error?.message ?? '', /200 times/)
  })
})

test('a project reads a few sources at once, and every run has its turn', async (t) => {
  const kit = await evalsKit(t)
  const { id: evalId } = await kit.newEval()
  const rows = Array.from({ length: 500 }, (_, at) => ({ ...ticket(at), sample: { output_text: 'Hardware' } }))
  const fileId = await kit.upload(rows)
  const body = { data_source: { type: 'jsonl', source: { type: 'file_id', id: fileId } } }
  const runs = await Promise.all(Array.from({ length: 8 }, () => kit.create(evalId, body)))
  const ids = runs.map(({ id }) => id)
  let most = 0
  const allEnded = async () => {
    const found = await sql<{ loading: number; ended: number }>`
      select count(*) filter (where load_submitted and not loaded and ended_at is null)::int as loading,
        count(ended_at)::int as ended from evals.run where id = any(${ids})`.execute(kit.app.db.kysely)
    most = Math.max(most, found.rows[0]?.loading ?? 0)
    return found.rows[0]?.ended === runs.length
  }
  assert.ok(await becomesTrue(allEnded, boundMs))
  assert.ok(most <= 2, `${most} at once`)
  for (const run of runs) assert.deepEqual((await kit.read(run)).result_counts.passed, rows.length)
})
