import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listModels, retrieveModel } from '@switchyard/contracts/models.ts'
import { testApp } from '../../../../test/test-app.ts'

test('models are listed under their snapshots and their aliases, and can be read under both', async (t) => {
  const app = await testApp(t)
  const { body } = await app.call(listModels)
  const names = body.data.map(({ id }) => id)
  assert.deepEqual(names, [
    'double-chat-2026-11-01',
    'double-chat',
    'double-responses-2026-11-01',
    'double-responses',
    'double-anthropic-2026-11-01',
    'double-anthropic',
  ])
  for (const model of names) {
    const reply = await app.call(retrieveModel, { params: { model } })
    assert.deepEqual(reply.body, {
      id: model,
      object: 'model',
      created: Date.parse('2026-11-01T00:00:00Z') / 1000,
      owned_by: 'organization',
    })
  }
  const none = await app.call(retrieveModel, { params: { model: 'none' } })
  assert.deepEqual([none.status, none.error.code, none.error.param], [404, 'model_not_found', 'model'])
})
