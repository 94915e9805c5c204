import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUpload, uploadBytesMax } from '@switchyard/contracts/files.ts'
import { testApp } from '../../../../test/test-app.ts'
import { uploadBody } from '../testing/file-forms.ts'

test('an upload is pending for an hour and has no file yet', async (t) => {
  const app = await testApp(t)
  const { status, body } = await app.call(createUpload, { body: uploadBody(uploadBytesMax, { purpose: 'batch' }) })
  assert.equal(status, 200)
  const { id, created_at: createdAt, expires_at: expiresAt, ...rest } = body
  assert.match(id, /^upload_[0-9a-z]{26}$/)
  assert.equal(expiresAt, createdAt + 3_600)
  assert.deepEqual(rest, {
    object: 'upload',
    bytes: uploadBytesMax,
    filename: 'big.bin',
    purpose: 'batch',
    status: 'pending',
    file: null,
  })
})

const wrong: [Record<string, unknown>, string, string][] = [
  [{ bytes: 0 }, 'integer_below_min_value', 'bytes'],
  [{ bytes: -1 }, 'integer_below_min_value', 'bytes'],
  [{ bytes: uploadBytesMax + 1 }, 'integer_above_max_value', 'bytes'],
  [{ bytes: 1.5 }, 'invalid_type', 'bytes'],
  [{ bytes: '12' }, 'invalid_type', 'bytes'],
  [{ bytes: null }, 'invalid_type', 'bytes'],
  [{ filename: '' }, 'string_below_min_length', 'filename'],
  [{ filename: 'n'.repeat(1_001) }, 'string_above_max_length', 'filename'],
  [{ filename: 'nul\u0000' }, 'invalid_value', 'filename'],
  [{ filename: 'half \ud83d' }, 'invalid_value', 'filename'],
  [{ mime_type: 7 }, 'invalid_type', 'mime_type'],
  [{ purpose: 'fun' }, 'invalid_value', 'purpose'],
  [{ expires_after: { anchor: 'created_at', seconds: 1 } }, 'integer_below_min_value', 'expires_after.seconds'],
  [{ expires_after: { anchor: 'now', seconds: 3_600 } }, 'invalid_value', 'expires_after.anchor'],
  [{ expires_after: null }, 'invalid_type', 'expires_after'],
]

test('an upload that cannot be is refused by the name of its field', async (t) => {
  const app = await testApp(t)
  for (const [change, code, param] of wrong) {
    const reply = await app.call(createUpload, { body: uploadBody(12, change) })
    const { status, error } = reply
    assert.deepEqual([status, error?.code, error?.param], [400, code, param], JSON.stringify(change).slice(0, 80))
  }
  for (const name of ['bytes', 'filename', 'mime_type', 'purpose']) {
    const { [name]: _left, ...body } = uploadBody(12)
    const { status, error } = await app.call(createUpload, { body })
    assert.deepEqual([status, error?.code, error?.param], [400, 'missing_required_parameter', name])
  }
})
