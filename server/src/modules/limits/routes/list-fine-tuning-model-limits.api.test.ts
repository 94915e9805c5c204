import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listFineTuningModelLimits } from '@switchyard/contracts/fine-tuning.ts'
import { refusalOf } from '#modules/orgs/testing/orgs-kit.ts'
import { testApp } from '../../../../test/test-app.ts'

// S3-4.5
test('the fine-tuning limits of every model of the catalogue can be read with a project key', async (t) => {
  const app = await testApp(t)
  const reply = await app.call(listFineTuningModelLimits)
  assert.equal(reply.status, 200, reply.text)
  const limit = (model: string) => ({
    object: 'fine_tuning.model_limit',
    model,
    max_concurrent_jobs: 3,
    max_jobs_per_1_day: 48,
    max_training_tokens_per_job: 50_000_000,
    active_jobs: 0,
    jobs_last_24_hours: 0,
  })
  const models = ['double-chat-2026-11-01', 'double-responses-2026-11-01', 'double-anthropic-2026-11-01']
  assert.deepEqual(reply.body, { object: 'list', data: models.map(limit), has_more: false })
  const byAdmin = await app.call(listFineTuningModelLimits, { key: app.org.adminKey })
  assert.deepEqual(refusalOf(byAdmin), [401, 'invalid_api_key', null])
})
