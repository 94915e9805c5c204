import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  cancelUpload,
  completeUpload,
  createUploadPart,
  listFiles,
  retrieveFile,
  retrieveFileContent,
} from '@switchyard/contracts/files.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { partForm } from '../testing/file-forms.ts'
import { expireIn, newPart, newUpload } from '../testing/files-kit.ts'

const complete = (app: TestApp, uploadId: string, partIds: string[], md5?: string) =>
  app.call(completeUpload, {
    params: { upload_id: uploadId },
    body: { part_ids: partIds, ...(md5 === undefined ? {} : { md5 }) },
  })

const contentOf = async (app: TestApp, id: string | undefined) =>
  (await app.call(retrieveFileContent, { params: { file_id: id ?? '' } })).text

test('parts sent in parallel become a file in the order that completion names', async (t) => {
  const app = await testApp(t)
  const words = ['alpha ', 'beta ', 'gamma ', 'delta ', 'epsilon']
  const whole = words.join('')
  const uploadId = await newUpload(app, whole.length, { filename: 'words.txt', purpose: 'assistants' })
  const ids = await Promise.all(words.map((word) => newPart(app, uploadId, word)))
  const reply = await complete(app, uploadId, ids)
  assert.equal(reply.status, 200, reply.text)
  const { file, ...upload } = reply.body
  assert.deepEqual([upload.id, upload.status, upload.bytes], [uploadId, 'completed', whole.length])
  assert.ok(file !== null)
  assert.deepEqual([file.bytes, file.filename, file.purpose], [whole.length, 'words.txt', 'assistants'])
  assert.deepEqual((await app.call(retrieveFile, { params: { file_id: file.id } })).body, file)
  assert.equal(await contentOf(app, file.id), whole)
  const reversed = await newUpload(app, whole.length)
  const again = await Promise.all(words.map((word) => newPart(app, reversed, word)))
  const backwards = await complete(app, reversed, again.toReversed())
  assert.equal(await contentOf(app, backwards.body.file?.id), words.toReversed().join(''))
})

test('parts that are left out are not in the file', async (t) => {
  const app = await testApp(t)
  const uploadId = await newUpload(app, 3)
  const first = await newPart(app, uploadId, 'one')
  await newPart(app, uploadId, 'two')
  const reply = await complete(app, uploadId, [first])
  assert.equal(await contentOf(app, reply.body.file?.id), 'one')
})

test('the expiry of an upload is that of its file, counted from completion', async (t) => {
  const app = await testApp(t)
  const uploadId = await newUpload(app, 1, { expires_after: { anchor: 'created_at', seconds: 7_200 } })
  const { body } = await complete(app, uploadId, [await newPart(app, uploadId, 'x')])
  assert.equal(body.file?.expires_at, (body.file?.created_at ?? 0) + 7_200)
  const batch = await newUpload(app, 1, { purpose: 'batch' })
  const made = await complete(app, batch, [await newPart(app, batch, 'x')])
  assert.equal(made.body.file?.expires_at, (made.body.file?.created_at ?? 0) + 30 * 86_400)
})

test('a checksum is checked when given, in either case', async (t) => {
  const app = await testApp(t)
  const md5 = createHash('md5').update('onetwo').digest('hex')
  for (const good of [md5, md5.toUpperCase()]) {
    const uploadId = await newUpload(app, 6)
    const ids = [await newPart(app, uploadId, 'one'), await newPart(app, uploadId, 'two')]
    const bad = await complete(app, uploadId, ids.toReversed(), good)
    assert.deepEqual([bad.status, bad.error.code, bad.error.param], [400, 'checksum_mismatch', 'md5'])
    const reply = await complete(app, uploadId, ids, good)
    assert.equal(reply.status, 200, reply.text)
  }
  const uploadId = await newUpload(app, 1)
  const odd = await complete(app, uploadId, [await newPart(app, uploadId, 'x')], 'not hexadecimal')
  assert.deepEqual([odd.status, odd.error.code, odd.error.param], [400, 'invalid_value', 'md5'])
})

test('a completion that does not fit is refused and can be put right', async (t) => {
  const app = await testApp(t)
  const uploadId = await newUpload(app, 6)
  const one = await newPart(app, uploadId, 'one')
  const two = await newPart(app, uploadId, 'two')
  const otherUpload = await newUpload(app, 3)
  const stranger = await newPart(app, otherUpload, 'two')
  const refused: [string[], string, string][] = [
    [[one], 'upload_size_mismatch', 'part_ids'],
    [[one, one], 'invalid_value', 'part_ids[1]'],
    [[one, stranger], 'invalid_value', 'part_ids[1]'],
    [['part_none', two], 'invalid_value', 'part_ids[0]'],
    [[], 'array_below_min_length', 'part_ids'],
  ]
  for (const [ids, code, param] of refused) {
    const reply = await complete(app, uploadId, ids)
    assert.deepEqual([reply.status, reply.error.code, reply.error.param], [400, code, param], reply.text)
  }
  assert.deepEqual((await app.call(listFiles)).body.data, [])
  assert.equal((await complete(app, uploadId, [one, two])).status, 200)
})

test('of several completions at once one makes the file', async (t) => {
  const app = await testApp(t)
  for (let round = 0; round < 5; round += 1) {
    const uploadId = await newUpload(app, 6)
    const ids = [await newPart(app, uploadId, 'one'), await newPart(app, uploadId, 'two')]
    const replies = await Promise.all(Array.from({ length: 4 }, () => complete(app, uploadId, ids)))
    const good = replies.filter(({ status }) => status === 200)
    assert.equal(good.length, 1, replies.map((reply) => reply.text).join('\n'))
    for (const reply of replies) {
      if (reply.status !== 200) assert.deepEqual([reply.status, reply.error.code], [400, 'upload_not_pending'])
    }
    assert.equal(await contentOf(app, good[0]?.body.file?.id), 'onetwo')
    assert.equal((await app.call(listFiles)).body.data.length, round + 1)
  }
})

test('a part that arrives while the upload completes is either taken before or refused', async (t) => {
  const app = await testApp(t)
  for (let round = 0; round < 5; round += 1) {
    const uploadId = await newUpload(app, 3)
    const id = await newPart(app, uploadId, 'one')
    const [late, done] = await Promise.all([
      app.call(createUploadPart, { params: { upload_id: uploadId }, body: partForm('late') }),
      complete(app, uploadId, [id]),
    ])
    assert.equal(done.status, 200, done.text)
    assert.equal(await contentOf(app, done.body.file?.id), 'one')
    if (late.status !== 200) assert.deepEqual([late.status, late.error.code], [400, 'upload_not_pending'])
  }
})

test('of a completion and a cancellation at once one wins, and the other hears of it', async (t) => {
  const app = await testApp(t)
  for (let round = 0; round < 5; round += 1) {
    const uploadId = await newUpload(app, 3)
    const id = await newPart(app, uploadId, 'one')
    const params = { upload_id: uploadId }
    const [done, cancelled] = await Promise.all([complete(app, uploadId, [id]), app.call(cancelUpload, { params })])
    assert.deepEqual(
      [done.status, cancelled.status].sort((a, b) => a - b),
      [200, 400],
    )
    const files = (await app.call(listFiles)).body.data
    for (const { id: fileId } of files) assert.equal(await contentOf(app, fileId), 'one')
  }
})

test('an upload that has ended takes no part, no completion and no cancellation', async (t) => {
  const app = await testApp(t)
  const ended: string[] = []
  const completed = await newUpload(app, 1)
  await complete(app, completed, [await newPart(app, completed, 'x')])
  ended.push(completed)
  const cancelled = await newUpload(app, 1)
  const cancellation = await app.call(cancelUpload, { params: { upload_id: cancelled } })
  assert.deepEqual([cancellation.status, cancellation.body.status, cancellation.body.file], [200, 'cancelled', null])
  ended.push(cancelled)
  const expired = await newUpload(app, 1)
  const part = await newPart(app, expired, 'x')
  await expireIn(app, 'upload', expired, 0)
  ended.push(expired)
  for (const id of ended) {
    const params = { upload_id: id }
    const replies = [
      await complete(app, id, [part]),
      await app.call(createUploadPart, { params, body: partForm('x') }),
      await app.call(cancelUpload, { params }),
    ]
    for (const { status, error } of replies) {
      assert.deepEqual([status, error.code, error.param], [400, 'upload_not_pending', 'upload_id'])
    }
  }
})

test('an upload can be cancelled without a body or with an empty one', async (t) => {
  const app = await testApp(t)
  for (const input of [{}, { body: {} }, { body: '', headers: { 'content-type': 'application/json' } }]) {
    const reply = await app.call(cancelUpload, { params: { upload_id: await newUpload(app, 1) }, ...input })
    assert.deepEqual([reply.status, reply.body.status], [200, 'cancelled'], reply.text)
  }
})
