import assert from 'node:assert/strict'
import { test } from 'node:test'
import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { evalsKit, ticket } from '../testing/evals-kit.ts'

const boundMs = 20_000

test('runs of an archived project end, whatever they were at: nobody has a key to cancel them with', async (t) => {
  const kit = await evalsKit(t)
  const { app } = kit
  app.double.decide(() => new Promise(() => undefined))
  const { id: evalId } = await kit.newEval()
  const sampling = await kit.start(evalId, [ticket(0)])
  assert.ok(await becomesTrue(() => app.double.requests.length > 0, boundMs))
  const loading = 'evalrun_loading'
  await sql`
    insert into evals.run (id, eval_id, org_id, project_id, key_id, name, metadata, data_source)
    select ${loading}, eval_id, org_id, project_id, key_id, name, metadata, data_source
    from evals.run where id = ${sampling.id}`.execute(app.db.kysely)
  await app.call(archiveProject, { params: { project_id: app.project.id } })
  for (const id of [sampling.id, loading]) {
    const news = async () => (await kit.news(id)).join()
    assert.ok(await becomesTrue(async () => (await news()) === 'eval.run.canceled', boundMs), `${id}: ${await news()}`)
  }
  const { rows } = await sql<{ status: string }>`select status from evals.run`.execute(app.db.kysely)
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['canceled', 'canceled'],
  )
})
