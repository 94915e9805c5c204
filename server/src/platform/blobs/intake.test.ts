import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { createIntake } from './intake.ts'

const BLOCK_BYTES = 64

test('chunks of any size come out as full blocks in the buffers that were lent, and nothing else is held', async () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(chunks, async (given) => {
      const whole = Buffer.concat(given)
      const lent: Buffer[] = []
      const take = (): Buffer => lent[lent.push(Buffer.alloc(BLOCK_BYTES)) - 1]!
      const intake = createIntake(Readable.from(given, { objectMode: true }), { bytesMax: whole.length })
      const blocks: Buffer[] = []
      for await (const block of intake.blocks(take)) blocks.push(block)
      assert.deepEqual(Buffer.concat(blocks), whole)
      assert.equal(lent.length, Math.ceil(whole.length / BLOCK_BYTES))
      for (const [n, block] of blocks.entries()) {
        assert.equal(block.buffer, lent[n]!.buffer)
        if (n < blocks.length - 1) assert.equal(block.length, BLOCK_BYTES)
      }
      const sha256 = createHash('sha256').update(whole).digest('hex')
      assert.deepEqual(intake.result(), { bytes: whole.length, sha256 })
    }),
  )
})

test('the source is let go however the intake ends', async () => {
  const source = (): Readable => Readable.from([Buffer.alloc(10), Buffer.alloc(10)], { objectMode: true })
  const drain = async (stream: Readable, bytesMax: number, signal?: AbortSignal): Promise<void> => {
    const intake = createIntake(stream, { bytesMax, ...(signal === undefined ? {} : { signal }) })
    for await (const block of intake.blocks(() => Buffer.alloc(4))) void block
  }
  const whole = source()
  await drain(whole, 20)
  const large = source()
  await assert.rejects(drain(large, 15), { name: 'BlobTooLarge' })
  const stopped = source()
  await assert.rejects(drain(stopped, 20, AbortSignal.abort(new Error('stop'))), /stop/)
  assert.deepEqual([whole.destroyed, large.destroyed, stopped.destroyed], [true, true, true])
})
