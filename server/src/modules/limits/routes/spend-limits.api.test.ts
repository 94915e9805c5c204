import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deleteProjectSpendLimit,
  deleteSpendLimit,
  retrieveProjectSpendLimit,
  retrieveSpendLimit,
  updateProjectSpendLimit,
  updateSpendLimit,
} from '@switchyard/contracts/organization/spend-limits.ts'
import { refusalOf } from '#modules/orgs/testing/orgs-kit.ts'
import { testApp } from '../../../../test/test-app.ts'
import { insertUsageRows, usageRow } from '../testing/usage-rows.ts'

const limit = (threshold_amount: number) => ({ threshold_amount, currency: 'USD', interval: 'month' })

test('an organisation and each project have a monthly limit of their own, set, replaced and taken away', async (t) => {
  const app = await testApp(t)
  const params = { project_id: app.project.id }
  const other = { project_id: app.other.id }
  assert.deepEqual(refusalOf(await app.call(retrieveSpendLimit)), [404, 'not_found', null])
  const set = await app.call(updateSpendLimit, { body: limit(5_000) })
  const shown = { object: 'organization.spend_limit', ...limit(5_000), enforcement: { status: 'inactive' } }
  assert.deepEqual([set.status, set.body], [200, shown], set.text)
  const replaced = await app.call(updateSpendLimit, { body: limit(7_000) })
  assert.equal(replaced.body.threshold_amount, 7_000)
  assert.deepEqual((await app.call(retrieveSpendLimit)).body, replaced.body)

  assert.deepEqual(refusalOf(await app.call(retrieveProjectSpendLimit, { params })), [404, 'not_found', null])
  const inProject = await app.call(updateProjectSpendLimit, { params, body: limit(100) })
  assert.deepEqual(inProject.body, { ...shown, object: 'project.spend_limit', threshold_amount: 100 })
  assert.deepEqual((await app.call(retrieveProjectSpendLimit, { params })).body, inProject.body)
  assert.deepEqual(refusalOf(await app.call(retrieveProjectSpendLimit, { params: other })), [404, 'not_found', null])

  const gone = await app.call(deleteProjectSpendLimit, { params })
  assert.deepEqual(gone.body, { object: 'project.spend_limit.deleted', deleted: true })
  assert.deepEqual(refusalOf(await app.call(deleteProjectSpendLimit, { params })), [404, 'not_found', null])
  assert.equal((await app.call(retrieveSpendLimit)).body.threshold_amount, 7_000)
  assert.deepEqual((await app.call(deleteSpendLimit)).body, {
    object: 'organization.spend_limit.deleted',
    deleted: true,
  })
  assert.deepEqual(refusalOf(await app.call(deleteSpendLimit)), [404, 'not_found', null])
})

test('a limit is enforcing once the month has cost as much, and not a billionth before', async (t) => {
  const app = await testApp(t)
  const params = { project_id: app.project.id }
  await app.call(updateSpendLimit, { body: limit(100) })
  await app.call(updateProjectSpendLimit, { params, body: limit(60) })
  const spend = async (projectId: string, costNanos: number) =>
    await insertUsageRows(app.db, [
      usageRow({ atMs: (await app.db.now()).getTime(), orgId: app.org.id, projectId }, { costNanos }),
    ])
  const statuses = async () => [
    (await app.call(retrieveSpendLimit)).body.enforcement.status,
    (await app.call(retrieveProjectSpendLimit, { params })).body.enforcement.status,
  ]
  await spend(app.project.id, 599_999_999)
  assert.deepEqual(await statuses(), ['inactive', 'inactive'])
  await spend(app.project.id, 1)
  assert.deepEqual(await statuses(), ['inactive', 'enforcing'])
  await spend(app.other.id, 400_000_000)
  assert.deepEqual(await statuses(), ['enforcing', 'enforcing'])
})

test('another currency, interval or amount is refused by name, and a foreign project does not exist', async (t) => {
  const app = await testApp(t)
  const send = async (body: unknown) => refusalOf(await app.call(updateSpendLimit, { body }))
  assert.deepEqual(await send({ ...limit(1), currency: 'usd' }), [400, 'invalid_value', 'currency'])
  assert.deepEqual(await send({ ...limit(1), interval: 'day' }), [400, 'invalid_value', 'interval'])
  assert.deepEqual(await send(limit(0)), [400, 'integer_below_min_value', 'threshold_amount'])
  assert.deepEqual(await send(limit(1.5)), [400, 'invalid_type', 'threshold_amount'])
  const params = { project_id: app.otherOrg.project.id }
  for (const reply of [
    await app.call(retrieveProjectSpendLimit, { params }),
    await app.call(updateProjectSpendLimit, { params, body: limit(1) }),
    await app.call(deleteProjectSpendLimit, { params }),
  ]) {
    assert.deepEqual(refusalOf(reply), [404, 'not_found', null])
  }
})
