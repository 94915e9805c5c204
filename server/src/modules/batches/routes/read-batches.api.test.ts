import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelBatch, createBatch, listBatches, retrieveBatch } from '@switchyard/contracts/batches.ts'
import { newFile } from '#modules/files/testing/files-kit.ts'
import { testApp } from '../../../../test/test-app.ts'

test('batches are listed newest first, page by page, and only those of the project', async (t) => {
  const app = await testApp(t)
  const make = async (key: string) => {
    const file = await newFile(app, '{}', { fields: { purpose: 'batch' }, key })
    const body = { input_file_id: file.id, endpoint: '/v1/responses', completion_window: '24h' }
    return (await app.call(createBatch, { body, key })).body.id
  }
  const ids: string[] = []
  for (let count = 0; count < 3; count += 1) ids.unshift(await make(app.project.key))
  const foreign = await make(app.other.key)

  const first = await app.call(listBatches, { query: { limit: '2' } })
  assert.deepEqual([first.body.data.map(({ id }) => id), first.body.has_more], [ids.slice(0, 2), true])
  const second = await app.call(listBatches, { query: { limit: '2', after: first.body.last_id ?? '' } })
  assert.deepEqual([second.body.data.map(({ id }) => id), second.body.has_more], [ids.slice(2), false])

  const unknown = await app.call(listBatches, { query: { after: foreign } })
  assert.deepEqual([unknown.status, unknown.error.param], [400, 'after'])
  for (const operation of [retrieveBatch, cancelBatch]) {
    const reply = await app.call(operation, { params: { batch_id: foreign } })
    assert.deepEqual([reply.status, reply.error.code, reply.error.param], [404, 'not_found', 'batch_id'])
  }
})

test('a batch that nobody has begun to read is cancelled at once', async (t) => {
  const app = await testApp(t)
  const file = await newFile(app, '{}', { fields: { purpose: 'batch' } })
  const body = { input_file_id: file.id, endpoint: '/v1/responses', completion_window: '24h' }
  const { id } = (await app.call(createBatch, { body })).body
  const cancelled = await app.call(cancelBatch, { params: { batch_id: id } })
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'cancelling'])
  assert.ok((cancelled.body.cancelling_at ?? 0) >= cancelled.body.created_at)
})
