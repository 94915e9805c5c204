import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFile, toStreamingFile } from 'openai'
import { digestsOf, seededBytes } from './testing/bytes.ts'
import { watchMemory } from './testing/process-memory.ts'
import { useStack } from './testing/use-stack.ts'

const stack = useStack()

const MB = 1024 * 1024
const UPLOAD_BYTES = Number(process.env['SWITCHYARD_TEST_UPLOAD_MB'] ?? '300') * MB
const PART_BYTES = 60 * MB
const GROWTH_BYTES_MAX = 100 * MB
const BOUND_MS = 300_000

const partSizes = Array.from({ length: Math.ceil(UPLOAD_BYTES / PART_BYTES) }, (_none, index) =>
  Math.min(PART_BYTES, UPLOAD_BYTES - index * PART_BYTES),
)

async function* partBytes(index: number): AsyncGenerator<Buffer> {
  yield* seededBytes(index, partSizes[index]!)
}

test(
  `${UPLOAD_BYTES / MB} MB sent in parallel parts and read back are identical, within 100 MB of the server's memory`,
  { timeout: BOUND_MS },
  async (t) => {
    const client = stack().project()
    // What a process takes once for its first request is not growth.
    const warm = await client.files.create({ file: await toFile(Buffer.alloc(MB), 'warm.bin'), purpose: 'user_data' })
    await (await client.files.content(warm.id)).arrayBuffer()
    const expected = await digestsOf(...partSizes.map((_size, index) => partBytes(index)))

    const memory = watchMemory(stack().stack.nodes[0]!.process.pid)
    const upload = await client.uploads.create({
      bytes: UPLOAD_BYTES,
      filename: 'large.bin',
      mime_type: 'application/octet-stream',
      purpose: 'user_data',
    })
    const began = performance.now()
    const parts = await Promise.all(
      partSizes.map(async (_size, index) => {
        const data = toStreamingFile(partBytes(index), `part-${index}`)
        return await client.uploads.parts.create(upload.id, { data })
      }),
    )
    const sentMs = performance.now() - began
    const { file } = await client.uploads.complete(upload.id, {
      part_ids: parts.map(({ id }) => id),
      md5: expected.md5,
    })
    const completedMs = performance.now() - began
    assert.ok(file)
    assert.equal(file.bytes, UPLOAD_BYTES)
    const content = await client.files.content(file.id)
    assert.ok(content.body)
    assert.deepEqual(await digestsOf(content.body), expected)
    const { peakBytes, growthBytes } = memory.stop()

    const inMb = (bytes: number) => `${(bytes / MB).toFixed(1)} MB`
    t.diagnostic(
      `sent in ${Math.round(sentMs)} ms, completed with md5 at ${Math.round(completedMs)} ms, server from ` +
        `${inMb(memory.startBytes)} to a peak of ${inMb(peakBytes)}: growth ${inMb(growthBytes)}`,
    )
    assert.ok(growthBytes < GROWTH_BYTES_MAX, `the server grew by ${inMb(growthBytes)}`)
  },
)
