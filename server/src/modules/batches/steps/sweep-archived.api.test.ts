import assert from 'node:assert/strict'
import { test } from 'node:test'
import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { batchesKit } from '../testing/batches-kit.ts'

const boundMs = 20_000

test('a batch of an archived project is cancelled: nobody has a key to do it with', async (t) => {
  const kit = await batchesKit(t, { SWITCHYARD_BATCHES_CONCURRENCY: '2' })
  const { app } = kit
  app.double.decide(() => ({ text: 'Slow.', slowMs: 100 }))
  const { id } = await kit.ask(Array.from({ length: 250 }, (_, at) => `line ${at}`))
  assert.ok(await becomesTrue(() => app.double.requests.length > 0, boundMs))
  await app.call(archiveProject, { params: { project_id: app.project.id } })
  assert.ok(await becomesTrue(async () => (await kit.news(id)).length > 0, boundMs))
  assert.deepEqual(await kit.news(id), ['batch.cancelled'])
  const { rows } = await sql<{ done: number }>`
    select count(*)::int as done from batches.result where batch_id = ${id}`.execute(app.db.kysely)
  assert.ok((rows[0]?.done ?? 0) < 250)
})
