import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { evalsKit, sampled, ticket } from '../testing/evals-kit.ts'

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
