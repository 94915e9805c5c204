import { listFineTuningModelLimits } from '@switchyard/contracts/fine-tuning.ts'
import { explainLimits } from '@switchyard/contracts/organization/limits-explain.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalOf } from '#modules/orgs/testing/orgs-kit.ts'
import { doubleModels, snapshotOf } from '../../../../../test/double-models.ts'
import { testApp } from '../../../../../test/test-app.ts'
import { ask, explainSettled, limitedOrg, rateOf, requestIdOf } from '../../testing/rate-kit.ts'

test('what was decided of a request is told to its organisation, with every bucket that was asked', async (t) => {
  const app = await testApp(t)
  const org = await limitedOrg(app, 'tier_1')
  app.double.queue({ text: 'Yes.', usage: { input: 5, output: 7 } })
  const reply = await ask(app, org, { max_output_tokens: 100 })
  const why = await explainSettled(app, org, requestIdOf(reply))
  const month = new Date().toISOString().slice(0, 7)
  assert.equal(why.summary, 'Admitted, charged 100 tokens; 1 model call used 12.')
  assert.deepEqual([why.request_id, why.project_id], [requestIdOf(reply), org.project.id])
  const [decision] = why.decisions
  assert.deepEqual(
    [decision?.kind, decision?.operation, decision?.model, decision?.binding, decision?.max_output_tokens],
    ['admitted', 'responses', 'double-chat', null, 100],
  )
  assert.deepEqual(
    decision?.buckets.map(({ bucket, limit, used_before, requested }) => [bucket, limit, used_before, requested]),
    [
      ['RPM:double', 500, 0, 1],
      ['RPD:double', 10_000, 0, 1],
      ['TPM:double', 200_000, 0, 100],
      [`spend:${month}`, 100e9, 0, 402_000],
      [`${org.project.id}:spend:${month}`, 100e9, 0, 402_000],
    ],
  )
  const [settlement] = why.settlements
  assert.deepEqual(settlement?.reserved, [
    { bucket: 'RPD:double', amount: 1 },
    { bucket: 'TPM:double', amount: 100 },
    { bucket: `spend:${month}`, amount: 402_000 },
    { bucket: `${org.project.id}:spend:${month}`, amount: 402_000 },
  ])
  assert.deepEqual([settlement?.tokens, settlement?.cost_nanos], [12, 5 * 1_000 + 7 * 4_000])

  for (const request_id of [requestIdOf(reply), 'req_nobody']) {
    const foreign = await app.call(explainLimits, { query: { request_id }, key: app.otherOrg.adminKey })
    assert.deepEqual(refusalOf(foreign), [404, 'not_found', 'request_id'])
  }
  const byProject = await app.call(explainLimits, { query: { request_id: 'x' }, key: org.project.key })
  assert.equal(byProject.status, 401)
})

test('an organisation without limits sees no headers of them, and what it uses is recorded all the same', async (t) => {
  const app = await testApp(t)
  const org = await limitedOrg(app, 'unlimited')
  app.double.queue({ text: 'Yes.', usage: { input: 5, output: 7 } })
  const reply = await ask(app, org)
  assert.equal(reply.status, 200)
  assert.deepEqual(rateOf(reply), { requests: null, tokens: null })
  const why = await app.call(explainLimits, { query: { request_id: requestIdOf(reply) }, key: org.adminKey })
  assert.deepEqual([why.body.decisions, why.body.settlements], [[], []])
  assert.deepEqual(
    why.body.usage.map((one) => [one.model, one.input_tokens, one.output_tokens, one.cost_nanos]),
    [[snapshotOf('double-chat'), 5, 7, 5 * 1_000 + 7 * 4_000]],
  )
})

// S3-4.5
test('the limits of fine-tuning name every model, with no job against them', async (t) => {
  const app = await testApp(t)
  const { status, body } = await app.call(listFineTuningModelLimits)
  const numbers = { max_concurrent_jobs: 3, max_jobs_per_1_day: 48, max_training_tokens_per_job: 50_000_000 }
  const data = doubleModels.map((model) => ({
    object: 'fine_tuning.model_limit',
    model: snapshotOf(model),
    ...numbers,
    active_jobs: 0,
    jobs_last_24_hours: 0,
  }))
  assert.deepEqual([status, body], [200, { object: 'list', data, has_more: false }])
})
