import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeUpload, createFile, retrieveFileContent } from '@switchyard/contracts/files.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { blobNames, newFile, newPart, newUpload } from '../testing/files-kit.ts'

const text = '0123456789abcdefghij'

const read = (app: TestApp, id: string, range?: string) =>
  app.call(retrieveFileContent, { params: { file_id: id }, headers: range === undefined ? {} : { range } })

/** The same text in pieces of 7, 0, 6 and 7 bytes. */
async function inPieces(app: TestApp): Promise<string> {
  const uploadId = await newUpload(app, text.length)
  const ids: string[] = []
  for (const piece of [text.slice(0, 7), '', text.slice(7, 13), text.slice(13)])
    ids.push(await newPart(app, uploadId, piece))
  const reply = await app.call(completeUpload, { params: { upload_id: uploadId }, body: { part_ids: ids } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body.file?.id ?? ''
}

test('the content comes whole, as bytes that no browser runs', async (t) => {
  const app = await testApp(t)
  const file = await newFile(app, text, { filename: "it's (a) *räum*.html" })
  const reply = await read(app, file.id)
  assert.deepEqual([reply.status, reply.text], [200, text])
  const { headers } = reply
  assert.equal(headers.get('content-type'), 'application/octet-stream')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('content-length'), '20')
  assert.equal(headers.get('accept-ranges'), 'bytes')
  assert.equal(
    headers.get('content-disposition'),
    "attachment; filename*=UTF-8''it%27s%20%28a%29%20%2Ar%C3%A4um%2A.html",
  )
})

test('binary content comes back byte for byte', async (t) => {
  const app = await testApp(t)
  const bytes = Uint8Array.from({ length: 100_000 }, (_none, at) => (at * 7919) % 256)
  const form = new FormData()
  form.append('purpose', 'user_data')
  form.append('file', new Blob([bytes]), 'b.bin')
  const file = await app.call(createFile, { body: form })
  const reply = await fetch(`${app.baseUrl}/v1/files/${file.body.id}/content`, {
    headers: { authorization: `Bearer ${app.project.key}` },
  })
  assert.deepEqual(new Uint8Array(await reply.arrayBuffer()), bytes)
})

const ranges: [string, string, string][] = [
  ['bytes=0-0', '0', 'bytes 0-0/20'],
  ['bytes=0-', text, 'bytes 0-19/20'],
  ['bytes=5-8', '5678', 'bytes 5-8/20'],
  ['bytes=6-7', '67', 'bytes 6-7/20'],
  ['bytes=6-13', '6789abcd', 'bytes 6-13/20'],
  ['bytes=12-', 'cdefghij', 'bytes 12-19/20'],
  ['bytes=13-99', 'defghij', 'bytes 13-19/20'],
  ['bytes=-1', 'j', 'bytes 19-19/20'],
  ['bytes=-8', 'cdefghij', 'bytes 12-19/20'],
  ['bytes=-99', text, 'bytes 0-19/20'],
]

test('a byte range gives exactly those bytes, in one piece or over many', async (t) => {
  const app = await testApp(t)
  for (const id of [(await newFile(app, text)).id, await inPieces(app)]) {
    for (const [range, expected, contentRange] of ranges) {
      const reply = await read(app, id, range)
      assert.deepEqual([reply.status, reply.text], [206, expected], range)
      assert.equal(reply.headers.get('content-range'), contentRange)
      assert.equal(reply.headers.get('content-length'), String(expected.length))
    }
    assert.equal((await read(app, id)).text, text)
  }
})

test('a range outside the file is refused and says how long the file is', async (t) => {
  const app = await testApp(t)
  const { id } = await newFile(app, text)
  for (const range of ['bytes=20-', 'bytes=99-100', 'bytes=-0', 'bytes=99999999999999999999-']) {
    const reply = await read(app, id, range)
    assert.deepEqual([reply.status, reply.error.code], [416, 'range_not_satisfiable'], range)
    assert.equal(reply.headers.get('content-range'), 'bytes */20')
  }
  const empty = await newFile(app, '')
  assert.equal((await read(app, empty.id, 'bytes=0-')).status, 416)
})

test('a range that says nothing, or more than one thing, gives the whole', async (t) => {
  const app = await testApp(t)
  const { id } = await newFile(app, text)
  for (const range of ['bytes=', 'bytes=-', 'bytes=8-5', 'bytes=0-1,4-5', 'lines=1-2', 'bytes=a-b', 'bytes']) {
    const reply = await read(app, id, range)
    assert.deepEqual([reply.status, reply.text], [200, text], range)
  }
})

test('content whose bytes are gone is not found, rather than cut short', async (t) => {
  const app = await testApp(t)
  const { id } = await newFile(app, text)
  for (const name of await blobNames(app)) await app.wired.blobs.remove(name)
  const reply = await read(app, id)
  assert.deepEqual([reply.status, reply.error.code], [404, 'not_found'])
})
