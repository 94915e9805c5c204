import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APIError, BadRequestError, NotFoundError, toFile, toStreamingFile, type OpenAI } from 'openai'
import { digestsOf, seededBytes } from './testing/bytes.ts'
import { recordingFetch } from './testing/recording-fetch.ts'
import { useStack } from './testing/use-stack.ts'

const stack = useStack()

const PART_BYTES = 100_000
const UNKNOWN_PART = 'part_01k9z3q4e8f6tv5x2m7c0n1b3a'

interface Prepared {
  readonly client: OpenAI
  readonly uploadId: string
  /** In the order of the content. */
  readonly partIds: string[]
  readonly md5: string
}

/** A pending upload with all its parts, sent last first. */
async function prepare(parts = 3): Promise<Prepared> {
  const client = stack().project()
  const upload = await client.uploads.create({
    bytes: parts * PART_BYTES,
    filename: 'big.bin',
    mime_type: 'application/octet-stream',
    purpose: 'user_data',
  })
  const partIds: string[] = []
  for (let index = parts - 1; index >= 0; index -= 1) partIds[index] = await sendPart(client, upload.id, index)
  const md5 = (await digestsOf(...partIds.map((_id, index) => seededBytes(index, PART_BYTES)))).md5
  return { client, uploadId: upload.id, partIds, md5 }
}

async function sendPart(client: OpenAI, uploadId: string, seed: number): Promise<string> {
  const data = toStreamingFile(seededStream(seed), `part-${seed}`)
  return (await client.uploads.parts.create(uploadId, { data })).id
}

async function* seededStream(seed: number): AsyncGenerator<Buffer> {
  yield* seededBytes(seed, PART_BYTES)
}

const refusal = (code: string, param: string | null) => (error: unknown) => {
  assert.ok(error instanceof BadRequestError)
  assert.deepEqual([error.status, error.code, error.param], [400, code, param])
  return true
}

test('an upload goes from pending to a file that is what its parts were', async () => {
  const client = stack().project()
  const upload = await client.uploads.create({
    bytes: 2 * PART_BYTES,
    filename: 'two parts.jsonl',
    mime_type: 'text/jsonl',
    purpose: 'batch',
    expires_after: { anchor: 'created_at', seconds: 7_200 },
  })
  assert.match(upload.id, /^upload_/)
  assert.deepEqual(
    [upload.object, upload.status, upload.bytes, upload.filename, upload.purpose, upload.file],
    ['upload', 'pending', 2 * PART_BYTES, 'two parts.jsonl', 'batch', null],
  )
  assert.equal(upload.expires_at, upload.created_at + 3_600)
  const parts = await Promise.all([0, 1].map((seed) => sendPart(client, upload.id, seed)))
  const done = await client.uploads.complete(upload.id, { part_ids: parts })
  assert.equal(done.status, 'completed')
  assert.ok(done.file)
  assert.equal(done.file.expires_at, done.file.created_at + 7_200)
  assert.deepEqual(await client.files.retrieve(done.file.id), done.file)
  const content = Buffer.from(await (await client.files.content(done.file.id)).arrayBuffer())
  assert.ok(content.equals(Buffer.concat([...seededBytes(0, PART_BYTES), ...seededBytes(1, PART_BYTES)])))
})

test('part_ids decide the order; a checksum over another order is refused and the upload stays open', async () => {
  const { client, uploadId, partIds, md5 } = await prepare()
  await assert.rejects(
    async () => await client.uploads.complete(uploadId, { part_ids: partIds.toReversed(), md5 }),
    refusal('checksum_mismatch', 'md5'),
  )
  const done = await client.uploads.complete(uploadId, { part_ids: partIds, md5: md5.toUpperCase() })
  assert.equal(done.status, 'completed')
})

test('parts that do not add up, are named twice or are unknown are refused, and the upload stays open', async () => {
  const { client, uploadId, partIds } = await prepare()
  const complete = async (part_ids: string[]) => await client.uploads.complete(uploadId, { part_ids })
  await assert.rejects(complete(partIds.slice(1)), refusal('upload_size_mismatch', 'part_ids'))
  await assert.rejects(complete([...partIds.slice(1), partIds[2]!]), refusal('invalid_value', 'part_ids[2]'))
  await assert.rejects(complete([...partIds.slice(1), UNKNOWN_PART]), refusal('invalid_value', 'part_ids[2]'))
  await assert.rejects(complete([]), refusal('array_below_min_length', 'part_ids'))
  assert.equal((await complete(partIds)).status, 'completed')
})

test('an upload is completed once', async () => {
  const { client, uploadId, partIds } = await prepare()
  const both = await Promise.allSettled(
    [1, 2].map(async () => await client.uploads.complete(uploadId, { part_ids: partIds })),
  )
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  const again = async () => await client.uploads.complete(uploadId, { part_ids: partIds })
  await assert.rejects(again, refusal('upload_not_pending', 'upload_id'))
  await assert.rejects(async () => await client.uploads.cancel(uploadId), refusal('upload_not_pending', 'upload_id'))
})

// S1-0-c
test('a cancelled upload takes nothing more; a call without a body carries no content type', async () => {
  const { uploadId, partIds } = await prepare()
  const { fetch, exchanges } = recordingFetch()
  const client = stack().project({ fetch })
  const cancelled = await client.uploads.cancel(uploadId)
  assert.deepEqual([cancelled.status, cancelled.file ?? null], ['cancelled', null])
  assert.equal(exchanges[0]!.requestHeaders.get('content-type'), null)
  await assert.rejects(sendPart(client, uploadId, 0), refusal('upload_not_pending', 'upload_id'))
  await assert.rejects(
    async () => await client.uploads.complete(uploadId, { part_ids: partIds }),
    refusal('upload_not_pending', 'upload_id'),
  )
  assert.equal(exchanges.at(-1)!.requestHeaders.get('content-type'), 'application/json')
})

test('the upload of another project does not exist', async () => {
  const { uploadId, partIds } = await prepare()
  const stranger = (await stack().newProject('stranger')).client()
  await assert.rejects(sendPart(stranger, uploadId, 0), NotFoundError)
  await assert.rejects(async () => await stranger.uploads.complete(uploadId, { part_ids: partIds }), NotFoundError)
  await assert.rejects(async () => await stranger.uploads.cancel(uploadId), NotFoundError)
})

test('a part larger than 64 MB is refused with 413, and the upload goes on', async () => {
  const { client, uploadId, partIds } = await prepare()
  const tooLarge = 64 * 1024 * 1024 + 1
  const whole = await toFile(Buffer.alloc(tooLarge), 'too large')
  const streamed = toStreamingFile(zeros(tooLarge), 'too large')
  for (const data of [whole, streamed]) {
    await assert.rejects(
      async () => await client.uploads.parts.create(uploadId, { data }),
      (error) => {
        assert.ok(error instanceof APIError)
        assert.deepEqual([error.status, error.code], [413, 'file_too_large'], error.message)
        return true
      },
    )
  }
  assert.equal((await client.uploads.complete(uploadId, { part_ids: partIds })).status, 'completed')
})

async function* zeros(total: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024)
  for (let left = total; left > 0; left -= chunk.length) yield chunk.subarray(0, Math.min(left, chunk.length))
}
