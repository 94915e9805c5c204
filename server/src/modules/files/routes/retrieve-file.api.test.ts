import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteFile, listFiles, retrieveFile, retrieveFileContent } from '@switchyard/contracts/files.ts'
import { testApp } from '../../../../test/test-app.ts'
import { expireIn, newFile } from '../testing/files-kit.ts'

test('a file can be read back', async (t) => {
  const app = await testApp(t)
  const file = await newFile(app)
  const reply = await app.call(retrieveFile, { params: { file_id: file.id } })
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.body, file)
})

test('a deleted file is gone at once, everywhere, and can be deleted once', async (t) => {
  const app = await testApp(t)
  const { id } = await newFile(app)
  const params = { file_id: id }
  const reply = await app.call(deleteFile, { params })
  assert.deepEqual([reply.status, reply.body], [200, { id, object: 'file', deleted: true }])
  for (const operation of [retrieveFile, retrieveFileContent, deleteFile]) {
    const gone = await app.call(operation, { params })
    assert.deepEqual([gone.status, gone.error.code, gone.error.param], [404, 'not_found', 'file_id'], operation.id)
  }
  assert.deepEqual((await app.call(listFiles)).body.data, [])
})

test('of several deletions at once one succeeds', async (t) => {
  const app = await testApp(t)
  const { id } = await newFile(app)
  const replies = await Promise.all(Array.from({ length: 5 }, () => app.call(deleteFile, { params: { file_id: id } })))
  assert.deepEqual(
    replies.map(({ status }) => status).sort((a, b) => a - b),
    [200, 404, 404, 404, 404],
  )
})

test('an expired file is gone from its second on by the clock of the database, before any sweep', async (t) => {
  const app = await testApp(t)
  const { id } = await newFile(app)
  const params = { file_id: id }
  await expireIn(app, 'file', id, 3_600)
  assert.equal((await app.call(retrieveFile, { params })).status, 200)
  await expireIn(app, 'file', id, 0)
  for (const operation of [retrieveFile, retrieveFileContent, deleteFile]) {
    const gone = await app.call(operation, { params })
    assert.deepEqual([gone.status, gone.error.code], [404, 'not_found'], operation.id)
  }
  assert.deepEqual((await app.call(listFiles)).body.data, [])
})

test('an id that cannot be one is answered as one that does not exist', async (t) => {
  const app = await testApp(t)
  for (const id of [
    'x',
    'file-',
    'upload_1',
    'x'.repeat(96),
    'x'.repeat(97),
    '%00',
    '\u0000',
    "' or 1=1",
    '🚂',
    '..',
  ]) {
    const reply = await app.call(retrieveFile, { params: { file_id: id } })
    assert.equal(reply.status, 404, id)
    assert.equal(reply.error.code, 'not_found')
  }
})
