import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { createFile, filenameMax, retrieveFileContent } from '@switchyard/contracts/files.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { fileForm } from '../testing/file-forms.ts'
import { blobNames, newFile } from '../testing/files-kit.ts'

const content = async (app: TestApp, id: string) =>
  (await app.call(retrieveFileContent, { params: { file_id: id } })).text

test('a file is kept as it came and described as the contract says', async (t) => {
  const app = await testApp(t)
  const before = Math.floor((await app.db.now()).getTime() / 1_000)
  const file = await newFile(app, '{"a":1}\n', { fields: { purpose: 'evals' }, filename: 'rows.jsonl' })
  const { id, created_at: createdAt, ...rest } = file
  assert.match(id, /^file-[0-9a-z]{26}$/)
  assert.ok(createdAt >= before && createdAt <= before + 60)
  assert.deepEqual(rest, {
    object: 'file',
    bytes: 8,
    expires_at: null,
    filename: 'rows.jsonl',
    purpose: 'evals',
    status: 'processed',
    status_details: null,
  })
  assert.equal(await content(app, id), '{"a":1}\n')
})

test('a file expires when asked to; a batch file after thirty days', async (t) => {
  const app = await testApp(t)
  const fields = { purpose: 'vision', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '3600' }
  const asked = await newFile(app, 'x', { fields })
  assert.equal(asked.expires_at, asked.created_at + 3_600)
  const batch = await newFile(app, 'x', { fields: { purpose: 'batch' } })
  assert.equal(batch.expires_at, batch.created_at + 30 * 86_400)
})

test('an empty file is a file', async (t) => {
  const app = await testApp(t)
  const file = await newFile(app, '')
  assert.equal(file.bytes, 0)
  assert.equal(await content(app, file.id), '')
})

test('fields may stand behind the file', async (t) => {
  const app = await testApp(t)
  const form = fileForm('x', { fields: {} })
  form.append('purpose', 'assistants')
  const reply = await app.call(createFile, { body: form })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.purpose, 'assistants')
})

test('a file name keeps its letters and loses its folders', async (t) => {
  const app = await testApp(t)
  assert.equal((await newFile(app, 'x', { filename: 'über räum 🚂.txt' })).filename, 'über räum 🚂.txt')
  assert.equal((await newFile(app, 'x', { filename: '../../etc/passwd' })).filename, 'passwd')
})

const wrong: {
  says: string
  fields?: Record<string, string>
  filename?: string
  code: string
  param: string | null
}[] = [
  { says: 'no purpose', fields: {}, code: 'missing_required_parameter', param: 'purpose' },
  { says: 'an unknown purpose', fields: { purpose: 'fun' }, code: 'invalid_value', param: 'purpose' },
  {
    says: 'a purpose that only the service gives',
    fields: { purpose: 'batch_output' },
    code: 'invalid_value',
    param: 'purpose',
  },
  {
    says: 'an expiry without anchor',
    fields: { purpose: 'evals', 'expires_after[seconds]': '3600' },
    code: 'missing_required_parameter',
    param: 'expires_after.anchor',
  },
  {
    says: 'an expiry under an hour',
    fields: { purpose: 'evals', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '3599' },
    code: 'integer_below_min_value',
    param: 'expires_after.seconds',
  },
  {
    says: 'an expiry over thirty days',
    fields: { purpose: 'evals', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '2592001' },
    code: 'integer_above_max_value',
    param: 'expires_after.seconds',
  },
  { says: 'an endless name', filename: 'n'.repeat(filenameMax + 1), code: 'string_above_max_length', param: 'file' },
]

test('a refused file says which field is at fault and leaves no bytes behind', async (t) => {
  const app = await testApp(t)
  for (const { says, code, param, ...form } of wrong) {
    const reply = await app.call(createFile, { body: fileForm('x', form) })
    assert.deepEqual([reply.status, reply.error?.code, reply.error?.param], [400, code, param], says)
  }
  const none = new FormData()
  none.append('purpose', 'evals')
  const missing = await app.call(createFile, { body: none })
  assert.deepEqual(
    [missing.status, missing.error.code, missing.error.param],
    [400, 'missing_required_parameter', 'file'],
  )
  const two = fileForm('x')
  two.append('file', new Blob(['y']), 'second.txt')
  const twice = await app.call(createFile, { body: two })
  assert.deepEqual([twice.status, twice.error.code], [400, 'invalid_multipart'])
  assert.deepEqual(await blobNames(app), [])
})

test('a multipart body that ends too early or has no boundary is refused', async (t) => {
  const app = await testApp(t)
  const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nhalf'
  const bodies = [
    { type: 'multipart/form-data; boundary=b', body: part },
    { type: 'multipart/form-data; boundary=b', body: '' },
    { type: 'multipart/form-data; boundary=other', body: `${part}\r\n--b--\r\n` },
    { type: 'multipart/form-data', body: `${part}\r\n--b--\r\n` },
  ]
  for (const { type, body } of bodies) {
    const reply = await app.call(createFile, { body, headers: { 'content-type': type } })
    assert.equal(reply.status, 400, reply.text)
    assert.match(String(reply.error.code), /^invalid_multipart$|^missing_required_parameter$/)
  }
  assert.deepEqual(await blobNames(app), [])
})

test('a client that goes away in the middle leaves nothing behind', async (t) => {
  const app = await testApp(t)
  const { hostname, port } = new URL(app.baseUrl)
  const socket = connect(Number(port), hostname)
  const head = [
    'POST /v1/files HTTP/1.1',
    'host: x',
    `authorization: Bearer ${app.project.key}`,
    'content-type: multipart/form-data; boundary=b',
    'content-length: 1000000',
  ]
  const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n'
  await new Promise<void>((resolve) => {
    socket.write(`${head.join('\r\n')}\r\n\r\n${part}${'x'.repeat(100_000)}`, () => resolve())
  })
  socket.destroy()
  // The request after it is answered, and by then nothing of the first one is to be seen.
  const file = await newFile(app)
  assert.equal((await blobNames(app)).length, 1)
  assert.equal(await content(app, file.id), 'hello\n')
})
