import assert from 'node:assert/strict'
import { test } from 'node:test'
import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { ownWorker } from '../../../../test/own-worker.ts'
import { responsesKit } from '../testing/responses-kit.ts'

const boundMs = 20_000

test('background responses of an archived project are cancelled, also those that wait', async (t) => {
  const settings = { ...(await ownWorker()), SWITCHYARD_RESPONSES_BACKGROUND_MAX: '2' }
  const kit = await responsesKit(t, settings, ['api', 'worker'])
  const { app, double } = kit
  double.decide(() => new Promise(() => undefined))
  const asked: string[] = []
  for (let n = 0; n < 5; n += 1) asked.push((await kit.create({ background: true })).id)
  assert.ok(await becomesTrue(() => double.requests.length > 0, boundMs))
  await app.call(archiveProject, { params: { project_id: app.project.id } })
  const told = async () => {
    const { rows } = await sql<{ id: string }>`
      select body::json -> 'data' ->> 'id' as id from webhooks.event where type = 'response.cancelled'`.execute(
      app.db.kysely,
    )
    return rows.map(({ id }) => id).toSorted()
  }
  assert.ok(await becomesTrue(async () => (await told()).length >= asked.length, boundMs))
  assert.deepEqual(await told(), asked.toSorted())
  assert.ok(double.requests.length <= 2, 'nothing more was begun')
})
