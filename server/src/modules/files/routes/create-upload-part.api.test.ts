import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUploadPart } from '@switchyard/contracts/files.ts'
import { sql } from 'kysely'
import { testApp } from '../../../../test/test-app.ts'
import { fileForm, partForm } from '../testing/file-forms.ts'
import { blobNames, newPart, newUpload } from '../testing/files-kit.ts'

test('a part says which upload it belongs to', async (t) => {
  const app = await testApp(t)
  const uploadId = await newUpload(app, 3)
  const { status, body } = await app.call(createUploadPart, { params: { upload_id: uploadId }, body: partForm('one') })
  assert.equal(status, 200)
  const { id, created_at: createdAt, ...rest } = body
  assert.match(id, /^part_[0-9a-z]{26}$/)
  assert.ok(createdAt > 0)
  assert.deepEqual(rest, { object: 'upload.part', upload_id: uploadId })
})

test('a part without data, or for no upload, is refused and leaves no bytes behind', async (t) => {
  const app = await testApp(t)
  const params = { upload_id: await newUpload(app, 3) }
  const wrongName = await app.call(createUploadPart, { params, body: fileForm('x', { fields: {} }) })
  assert.deepEqual([wrongName.status, wrongName.error.code, wrongName.error.param], [400, 'unknown_parameter', 'file'])
  const nothing = await app.call(createUploadPart, { params: { upload_id: 'upload_none' }, body: partForm('one') })
  assert.deepEqual([nothing.status, nothing.error.code, nothing.error.param], [404, 'not_found', 'upload_id'])
  assert.deepEqual(await blobNames(app), [])
})

test('parts may come twice, but not for ever', async (t) => {
  const app = await testApp(t)
  const uploadId = await newUpload(app, 3)
  const first = await newPart(app, uploadId, 'one')
  await newPart(app, uploadId, 'one')
  const announcedTwiceAndAPart = 2 * 3 + 64 * 1024 * 1024
  await sql`update files.part set bytes = ${announcedTwiceAndAPart} where id = ${first}`.execute(app.db.kysely)
  const reply = await app.call(createUploadPart, { params: { upload_id: uploadId }, body: partForm('one') })
  assert.deepEqual([reply.status, reply.error.code], [400, 'upload_size_mismatch'])
  assert.equal((await blobNames(app)).length, 2)
})
