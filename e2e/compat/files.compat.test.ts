import assert from 'node:assert/strict'
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { NotFoundError, toFile, toStreamingFile } from 'openai'
import { seededBytes } from './testing/bytes.ts'
import { recordingFetch } from './testing/recording-fetch.ts'
import { useStack } from './testing/use-stack.ts'

const stack = useStack()

const OPENAPI = new URL('../../openapi/public.json', import.meta.url)
const LINES = Buffer.from('{"item":{"question":"1+1","answer":"2"}}\n{"item":{"question":"2+2","answer":"4"}}\n')
const nowSeconds = () => Math.floor(Date.now() / 1_000)

// S1-4.4-a S1-4.4-b S1-4.4-c S1-2.8-al S1-2.8-am S1-2.8-an S1-2.8-ao S1-2.8-ap
test('a file made from a buffer comes back as the whole record of the seed', async () => {
  const client = stack().project()
  const before = nowSeconds()
  const file = await client.files.create({ file: await toFile(LINES, 'test-data.jsonl'), purpose: 'evals' })
  const { id, created_at: createdAt, ...rest } = file
  assert.match(id, /^file-[0-9a-z]{26}$/)
  assert.ok(Number.isInteger(createdAt) && createdAt >= before - 1 && createdAt <= nowSeconds() + 1)
  assert.deepEqual(rest, {
    object: 'file',
    bytes: LINES.length,
    expires_at: null,
    filename: 'test-data.jsonl',
    purpose: 'evals',
    status: 'processed',
    status_details: null,
  })
  assert.deepEqual(await client.files.retrieve(id), file)
})

test('bytes sent from a buffer, a stream of the disk and a generator come back identical', async (t) => {
  const client = stack().project()
  const bytes = Buffer.concat([...seededBytes(1, 300_001)])
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-compat-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const onDisk = join(folder, 'from disk.bin')
  writeFileSync(onDisk, bytes)
  const sources = {
    'buffer.bin': await toFile(bytes, 'buffer.bin'),
    'from disk.bin': createReadStream(onDisk),
    'generator.bin': toStreamingFile(seededStream(1, bytes.length), 'generator.bin'),
    'blob.bin': new File([bytes], 'blob.bin'),
  }
  for (const [filename, file] of Object.entries(sources)) {
    const made = await client.files.create({ file, purpose: 'user_data' })
    assert.deepEqual([made.filename, made.bytes], [filename, bytes.length])
    const content = await client.files.content(made.id)
    assert.equal(content.headers.get('content-length'), String(bytes.length))
    assert.ok(bytes.equals(Buffer.from(await content.arrayBuffer())), `${filename} came back as it was sent`)
  }
})

test('names with accents, quotes and spaces are kept, and an empty file is a file', async () => {
  const client = stack().project()
  for (const name of ['naïve “file” 文件.txt', 'with "quotes".txt', "it's 100% (fine).txt"]) {
    const made = await client.files.create({ file: await toFile(Buffer.from('x'), name), purpose: 'user_data' })
    assert.equal((await client.files.retrieve(made.id)).filename, name)
  }
  const empty = await client.files.create({ file: await toFile(Buffer.alloc(0), 'empty.txt'), purpose: 'user_data' })
  assert.equal(empty.bytes, 0)
  assert.equal(await (await client.files.content(empty.id)).text(), '')
})

test('expires_after sets the second of expiry; batch files have thirty days, others none', async () => {
  const client = stack().project()
  const file = () => toFile(LINES, 'lines.jsonl')
  const hour = await client.files.create({
    file: await file(),
    purpose: 'user_data',
    expires_after: { anchor: 'created_at', seconds: 3_600 },
  })
  assert.equal(hour.expires_at, hour.created_at + 3_600)
  const batch = await client.files.create({ file: await file(), purpose: 'batch' })
  assert.equal(batch.expires_at, batch.created_at + 30 * 86_400)
  const forever = await client.files.create({ file: await file(), purpose: 'vision' })
  assert.equal(forever.expires_at, null)
})

test('waiting for a file to be processed ends at the first look', async () => {
  const { fetch, exchanges } = recordingFetch()
  const client = stack().project({ fetch })
  const { id } = await client.files.create({ file: await toFile(LINES, 'lines.jsonl'), purpose: 'fine-tune' })
  exchanges.length = 0
  assert.equal((await client.files.waitForProcessing(id)).status, 'processed')
  assert.equal(exchanges.length, 1)
})

test('a range of the content is answered with just these bytes', async () => {
  const { baseURL, project, stack: running } = stack()
  const bytes = Buffer.concat([...seededBytes(2, 200_000)])
  const { id } = await project().files.create({ file: await toFile(bytes, 'range.bin'), purpose: 'user_data' })
  const read = async (range: string) =>
    await fetch(`${baseURL}/files/${id}/content`, {
      headers: { authorization: `Bearer ${running.seeded.projectKey}`, range },
    })
  const middle = await read('bytes=1000-150999')
  assert.equal(middle.status, 206)
  assert.equal(middle.headers.get('content-range'), 'bytes 1000-150999/200000')
  assert.ok(bytes.subarray(1_000, 151_000).equals(Buffer.from(await middle.arrayBuffer())))
  const tail = await read('bytes=-5')
  assert.ok(bytes.subarray(-5).equals(Buffer.from(await tail.arrayBuffer())))
  const beyond = await read('bytes=200000-')
  assert.equal(beyond.status, 416)
  assert.equal(beyond.headers.get('content-range'), 'bytes */200000')
  await beyond.body?.cancel()
  const viaSdk = await project().files.content(id, { headers: { range: 'bytes=0-9' } })
  assert.deepEqual(Buffer.from(await viaSdk.arrayBuffer()), bytes.subarray(0, 10))
})

test('a deleted file is gone for every call', async () => {
  const client = stack().project()
  const { id } = await client.files.create({ file: await toFile(LINES, 'lines.jsonl'), purpose: 'assistants' })
  assert.deepEqual(await client.files.delete(id), { id, object: 'file', deleted: true })
  await assert.rejects(client.files.retrieve(id), NotFoundError)
  await assert.rejects(client.files.content(id), NotFoundError)
  await assert.rejects(client.files.delete(id), NotFoundError)
})

// S1-0-a S1-9.1 S3-0-a S3-9.1-a
test('every path that the SDK asks for is under the base URL and starts with /v1, and nothing else answers', async () => {
  const { fetch, exchanges } = recordingFetch()
  const { stack: running, project } = stack()
  const client = project({ fetch })
  const { id } = await client.files.create({ file: await toFile(LINES, 'lines.jsonl'), purpose: 'evals' })
  await client.files.retrieve(id)
  await client.files.list({ limit: 1 })
  await client.files.content(id)
  await client.files.delete(id)
  assert.deepEqual(
    exchanges.map(({ method, url, status }) => `${method} ${url.pathname.replace(id, '…')} ${status}`),
    [
      'POST /v1/files 200',
      'GET /v1/files/… 200',
      'GET /v1/files 200',
      'GET /v1/files/…/content 200',
      'DELETE /v1/files/… 200',
    ],
  )
  const { paths } = JSON.parse(readFileSync(OPENAPI, 'utf8')) as { paths: Record<string, unknown> }
  assert.deepEqual(
    Object.keys(paths).filter((path) => !path.startsWith('/v1/')),
    [],
  )
  const outside = await globalThis.fetch(`http://127.0.0.1:${running.httpPort}/files`, {
    headers: { authorization: `Bearer ${running.seeded.projectKey}` },
  })
  assert.equal(outside.status, 404)
  await outside.body?.cancel()
})

async function* seededStream(seed: number, total: number): AsyncGenerator<Buffer> {
  yield* seededBytes(seed, total)
}
